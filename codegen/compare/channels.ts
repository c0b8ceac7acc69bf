/** Compares the channels of an AsyncAPI document in two releases. */
import type { AsyncApiDocument, Channel, CloseRow, Message } from '../ir.ts'
import { type Break, type Direction, ValueComparison } from './values.ts'

type Pair<Value> = { before: Value; after: Value }

export function compareChannels({ before, after }: Pair<AsyncApiDocument>): Break[] {
  const values = new ValueComparison(before.name, { before: before.schemas, after: after.schemas })
  const own = before.channels.flatMap((channel) => {
    const next = after.channels.find(({ address }) => address === channel.address)
    const place = `${before.name} channel ${channel.address}`
    if (!next) return [{ place, rule: 'channel-removed', detail: 'the channel is gone' }]
    return compareChannel(place, values, { before: channel, after: next })
  })
  return [...own, ...values.breaks, ...compareCloses(before.name, before.errors, after.errors)]
}

function compareChannel(place: string, values: ValueComparison, { before, after }: Pair<Channel>): Break[] {
  const breaks: Break[] = []
  const add = (rule: string, detail: string) => breaks.push({ place, rule, detail })
  if (after.id !== before.id) add('channel-renamed', `${before.id} is ${after.id}`)
  if (after.scope !== before.scope) add('scope-changed', `${before.scope} is ${after.scope}`)
  if (after.subprotocol !== before.subprotocol) add('subprotocol', `${before.subprotocol} is ${after.subprotocol}`)
  if (after.requiresSubprotocol && !before.requiresSubprotocol) add('subprotocol', 'is required')
  if (after.credentialPrefix !== before.credentialPrefix) add('subprotocol', 'the prefix of the key has changed')
  if (after.frameType !== before.frameType) add('frame-removed', `the type is in ${after.frameType}`)
  if (before.openFrames && !after.openFrames) add('request-field-removed', 'fields with other names')
  for (const { name, values: list } of before.query) {
    const next = after.query.find((query) => query.name === name)?.values ?? []
    const gone = list.filter((value) => !next.includes(value))
    if (gone.length > 0) add('request-value', `no longer accepted: ${name} ${gone.join(', ')}`)
  }
  return [
    ...breaks,
    ...compareFrames('request', place, values, { before: before.receives, after: after.receives }),
    ...compareFrames('answer', place, values, { before: before.sends, after: after.sends }),
  ]
}

function compareFrames(
  direction: Direction,
  place: string,
  values: ValueComparison,
  { before, after }: Pair<Message[]>,
): Break[] {
  return before.flatMap((frame) => {
    const next = after.find(({ type, isBinary }) => type === frame.type && isBinary === frame.isBinary)
    const at = `${place} frame ${frame.type}`
    if (!next) return [{ place: at, rule: 'frame-removed', detail: 'the frame is gone' }]
    if (frame.component !== null && next.component !== null)
      values.compare(direction, at, { before: refTo(frame.component), after: refTo(next.component) })
    return []
  })
}

function compareCloses(name: string, before: Record<string, CloseRow>, after: Record<string, CloseRow>): Break[] {
  return Object.entries(before).flatMap(([code, { closeCode }]) => {
    const next = after[code]
    const place = `${name} error ${code}`
    if (!next) return [{ place, rule: 'error-removed', detail: 'the code is gone' }]
    if (next.closeCode === closeCode) return []
    return [{ place, rule: 'error-status', detail: `${closeCode} is ${next.closeCode}` }]
  })
}

function refTo(component: string) {
  return { $ref: `#/components/schemas/${component}` }
}
