/** The checks on a stream with server-sent events. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { readEventStream, terminalMark } from '../codegen/event-stream.ts'
import { type AnswerCheck, type Answered, faultsIf, mediaOf, placeOf, responseOf, typeOf } from './answer.ts'
import type { Found } from './results.ts'

type Event = { id: string | undefined; name: string | null; data: string }

const noStream = 'no answer was a stream'

export const streamChecks: readonly AnswerCheck[] = [
  { number: 39, name: 'event names are declared', otherwise: noStream, judge: onStream(names) },
  { number: 40, name: 'event payloads are valid', otherwise: noStream, judge: onStream(payloads) },
  { number: 41, name: 'event ids count from 0', otherwise: 'the events have no numbers', judge: onStream(ids) },
  { number: 42, name: 'one terminal event, the last', otherwise: noStream, judge: onStream(terminal) },
  { number: 43, name: 'the connection ends after it', otherwise: noStream, judge: onStream(closes) },
  { number: 44, name: 'deltas sum to the text', otherwise: 'no stream had deltas and a text', judge: onStream(sums) },
  { number: 45, name: '[DONE] where declared', otherwise: noStream, judge: onStream(done) },
  { number: 47, name: 'proxies do not buffer', otherwise: noStream, judge: onStream(unbuffered) },
]

/** Applies a check to event streams. The check gets the events, and the event names that may end this stream. */
function onStream(check: (stream: Stream) => Found): (answered: Answered) => Found {
  return (answered) => {
    if (typeOf(answered.received) !== 'text/event-stream') return null
    const named = declaredEvents(answered)
    const events = eventsOf(answered.received.body.toString())
    const isCut = answered.sent.leaves !== undefined
    return check({ answered, events, isCut, ...named, at: placeOf(answered) })
  }
}

type Stream = {
  answered: Answered
  events: readonly Event[]
  /** True if the client has left before the end. */
  isCut: boolean
  isNamed: boolean
  terminals: ReadonlySet<string>
  /** True if an example ends with `[DONE]`. */
  endsWithDone: boolean
  at: string
}

export function eventsOf(text: string): Event[] {
  const events: Event[] = []
  const onEvent = ({ id, event, data }: EventSourceMessage) => events.push({ id, name: event ?? null, data })
  createParser({ onEvent }).feed(text)
  return events
}

/** Reads from the examples how a stream ends, because a schema does not say it. */
function declaredEvents(answered: Answered): Pick<Stream, 'isNamed' | 'terminals' | 'endsWithDone'> {
  const media = mediaOf(answered)
  const last = [...(media?.examples.values() ?? [])].flatMap((example) => readEventStream(example).at(-1) ?? [])
  const marks = new Set(last.flatMap((event) => terminalMark(event) ?? []))
  marks.add('error')
  return { isNamed: media?.hasNamedEvents ?? false, terminals: marks, endsWithDone: marks.has('[DONE]') }
}

function names({ answered, events, isNamed, at }: Stream): Found {
  const declared = validatorsOf(answered)
  return events
    .filter(({ name }) => (isNamed ? !Object.hasOwn(declared, name ?? '') : name !== null))
    .map(({ name }) => `${at}: the event ${name ?? 'without a name'} is not declared`)
}

function validatorsOf({ surface, operation, received }: Answered) {
  return surface.validators.events(operation.id, String(received.status)) ?? {}
}

function payloads({ answered, events, at }: Stream): Found {
  const validators = validatorsOf(answered)
  return events
    .filter(({ data }) => data !== '[DONE]')
    .flatMap(({ name, data }) => {
      // In a stream of unnamed events, the last event may be an error; its data is then an error body.
      const validate = validators[name ?? '']
      if (validate === undefined || isEnvelope(data)) return []
      const value = parsed(data)
      if (value === undefined) return [`${at}: the data of ${name ?? 'an event'} is not JSON`]
      if (validate(value)) return []
      const [violation] = validate.errors ?? []
      return [`${at}: ${name ?? 'an event'}: ${violation?.instancePath || 'the data'} ${violation?.message}`]
    })
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown
  } catch {
    return undefined
  }
}

const isEnvelope = (data: string) => typeof (parsed(data) as { error?: unknown } | null)?.error === 'object'

/**
 * If an example counts its ids from 0, the stream's ids must do so too. Ids in another form are positions for resuming.
 */
function ids({ answered, events, at }: Stream): Found {
  const examples = [...(mediaOf(answered)?.examples.values() ?? [])]
  const isCounted = examples.some((example) => typeof example === 'string' && /^id: 0$/m.test(example))
  if (!isCounted || events.length === 0) return null
  const wrong = events.findIndex(({ id }, index) => id !== String(index))
  return faultsIf(wrong >= 0, `${at}: event ${wrong} has the id ${events[wrong]?.id ?? '(missing)'}`)
}

/**
 * Returns the text by which an event is recognized: its name, or else a mark in its data (see `terminalMark`). An
 * unnamed error event counts as the event `error`.
 */
const markOf = ({ name, data }: Event) =>
  name === null && isEnvelope(data) ? 'error' : terminalMark({ event: name, data })

function terminal({ events, terminals, isCut, at }: Stream): Found {
  if (isCut) return { reason: 'the client left before the end' }
  const ends = events.flatMap((event, index) => (terminals.has(markOf(event) ?? '') ? [index] : []))
  if (ends.length === 0) return [`${at}: no event is ${[...terminals].join(' or ')}`]
  return [
    ...faultsIf(ends.length > 1, `${at}: ${ends.length} terminal events`),
    ...faultsIf(ends[0] !== events.length - 1, `${at}: an event follows the terminal event`),
  ]
}

/** The body has ended, otherwise the answer would be broken or would still be read. */
function closes({ answered: { received }, isCut, at }: Stream): Found {
  if (isCut) return { reason: 'the client left before the end' }
  return faultsIf(received.broken !== null, `${at}: ${received.broken}`)
}

/** Where a text's deltas and the whole text are found: the event, then the field. */
const texts: Readonly<Record<string, { piece: readonly [string, string]; whole: readonly [string, string] }>> = {
  createResponse: { piece: ['response.text.delta', 'delta'], whole: ['response.item.completed', 'item'] },
  createCompatResponse: {
    piece: ['response.output_text.delta', 'delta'],
    whole: ['response.output_text.done', 'text'],
  },
  createCompatTranscription: { piece: ['transcript.text.delta', 'delta'], whole: ['transcript.text.done', 'text'] },
  complete: { piece: ['delta', 'text'], whole: ['done', 'text'] },
}

function sums({ answered: { operation }, events, at }: Stream): Found {
  const row = texts[operation.id]
  if (row === undefined) return null
  const fieldsOf = ([mark, field]: readonly [string, string]) =>
    events.filter((event) => markOf(event) === mark).map(({ data }) => textIn(parsed(data), field))
  const pieces = fieldsOf(row.piece)
  const wholes = fieldsOf(row.whole).filter((text) => text !== null)
  if (pieces.length === 0 || wholes.length === 0) return null
  return faultsIf(pieces.join('') !== wholes.join(''), `${at}: the deltas are not the text`)
}

/** Returns the text in a field, or in an item's content in this field. */
function textIn(value: unknown, field: string): string | null {
  const found = (value as Record<string, unknown> | null)?.[field]
  if (typeof found === 'string') return found
  const { content } = (found ?? {}) as { content?: { text?: unknown }[] }
  if (!Array.isArray(content)) return null
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

function done({ events, endsWithDone, isCut, at }: Stream): Found {
  const count = events.filter(({ data }) => data === '[DONE]').length
  if (!endsWithDone) return faultsIf(count > 0, `${at}: [DONE] in a stream that does not declare it`)
  const isOver = isCut || events.some((event) => markOf(event) === 'error')
  return isOver ? null : faultsIf(count !== 1, `${at}: ${count} times [DONE]`)
}

function unbuffered({ answered, at }: Stream): Found {
  const { headers } = answered.received
  const isDeclared = responseOf(answered)?.headers.has('x-accel-buffering') ?? false
  return [
    ...faultsIf(isDeclared && headers['x-accel-buffering'] !== 'no', `${at}: X-Accel-Buffering is not no`),
    ...faultsIf(headers['content-length'] !== undefined, `${at}: a stream has Content-Length`),
  ]
}
