/** Requests whose answers are streams or audio. Their answers are judged by the checks on every answer. */
import { faultsIf, typeOf } from './answer.ts'
import type { Received } from './http.ts'
import { acceptable, ask, isReason, isSuccess, type OperationCheck, type Probe, said } from './probe.ts'
import { refusedStream } from './refusal-checks.ts'
import { type Found, inapplicable } from './results.ts'
import { eventsOf } from './stream-checks.ts'

export const streamProbes: readonly OperationCheck[] = [
  { number: 46, name: 'a refused stream is JSON', otherwise: 'it has no stream', probe: stream },
  {
    number: 48,
    name: 'Last-Event-ID goes on without loss',
    otherwise: 'it has no stream to go on with',
    probe: resumed,
  },
  { number: 49, name: 'audio has whole samples', otherwise: 'it answers no audio', probe: wholeSamples },
  { number: 50, name: 'the length fits the characters', otherwise: 'it speaks no text', probe: plausible },
]

const hasStream = ({ operation }: Probe) =>
  [...operation.responses.values()].some(({ content }) => content.some(({ type }) => type === 'text/event-stream'))

/** Asks for a stream, then sends a faulty request for one. */
async function stream(probe: Probe): Promise<Found> {
  if (!hasStream(probe)) return null
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const value = asStream(probe, wanted.value)
  const headers = { accept: 'text/event-stream' }
  const received = await ask(probe, { ...wanted, headers, value })
  if (!isSuccess(received)) return inapplicable(`this deployment answers ${said(received)}`)
  const type = typeOf(received)
  if (type !== 'text/event-stream') return [`a request of a stream is answered with ${type}`]
  const { body } = probe.operation
  if (body?.media.type !== 'application/json') return inapplicable('no body can be faulty')
  return refusedStream(probe, (each) => asStream(probe, each))
}

/** Sets the body's field that asks for a stream. Without such a field, the header Accept asks for the stream. */
function asStream({ operation }: Probe, value: unknown): unknown {
  const { streamSwitch, streamValue } = operation
  const isField = streamSwitch !== null && streamSwitch !== 'Accept'
  return isField && typeof value === 'object' && value !== null ? { ...value, [streamSwitch]: streamValue } : value
}

async function resumed(probe: Probe): Promise<Found> {
  const { operation } = probe
  if (!operation.parameters.some(({ name }) => name === 'Last-Event-ID')) return null
  if (operation.id === 'streamWebhookEvents') return inapplicable('its stream goes on for ten minutes')
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const whole = eventsIn(await ask(probe, wanted))
  // An event's id is a position in the stream, and several events can share it. The stream is resumed after the last
  // event with an id in the middle, so that events remain before and after it.
  const ends = whole.flatMap(({ id }, index) =>
    index > 0 && index < whole.length - 1 && id !== undefined && id !== whole[index + 1]?.id ? [index] : [],
  )
  const at = ends[Math.floor(ends.length / 2)]
  const last = whole[at ?? -1]?.id
  if (at === undefined || last === undefined) return inapplicable('the stream is too short')
  const rest = eventsIn(await ask(probe, { ...wanted, headers: { 'last-event-id': last } }))
  // The first event states the current state, so it comes at each start, and again when the state changes.
  const isState = ({ name }: Event) => name === whole[0]?.name
  // The followed session may change between the two requests, so the last event may have a newer position.
  const isThere = (event: Event) =>
    rest.some((each) => isSame(each, event) || (event === whole.at(-1) && each.name === event.name))
  const missing = whole.slice(at + 1).filter((event) => !isState(event) && !isThere(event))
  const again = whole
    .slice(0, at)
    .filter((event) => !isState(event) && event.id !== last && rest.some((each) => isSame(each, event)))
  const named = (events: readonly Event[]) => events.map(({ name, id }) => `${name ?? 'an event'} ${id}`).join()
  return [
    ...faultsIf(missing.length > 0, `events are lost after Last-Event-ID ${last}: ${named(missing)}`),
    ...faultsIf(again.length > 0, `events come again after Last-Event-ID ${last}: ${named(again)}`),
  ]
}

const eventsIn = (received: Received) => eventsOf(received.body.toString())

type Event = ReturnType<typeof eventsOf>[number]
const isSame = (a: Event, b: Event) => a.id === b.id && a.name === b.name && a.data === b.data

const isAudio = (received: Received) =>
  typeOf(received).startsWith('audio/') || typeOf(received) === 'application/octet-stream'

async function wholeSamples(probe: Probe): Promise<Found> {
  const { operation } = probe
  const types = [...operation.responses.values()].flatMap(({ content }) => content.map(({ type }) => type))
  if (!types.some((type) => /^audio\/|octet-stream$/.test(type))) return null
  const examples = [...(operation.body?.media.examples.values() ?? [undefined])]
  const found: string[] = []
  let judged = 0
  for (const example of examples) {
    const wanted = await acceptable(probe, example)
    if (isReason(wanted)) return wanted
    const received = await ask(probe, wanted)
    if (!isSuccess(received) || !isAudio(received)) continue
    judged += 1
    found.push(...sampleFaults(received, example))
  }
  return judged === 0 ? inapplicable('no request was answered with audio') : found
}

function sampleFaults({ body }: Received, example: unknown): string[] {
  if (body.toString('latin1', 0, 4) === 'RIFF') {
    const [riff, data] = [body.readUInt32LE(4) + 8, body.indexOf('data')]
    const end = data < 0 ? -1 : data + 8 + body.readUInt32LE(data + 4)
    // If a WAV header is sent before the length is known, the lengths in it are the largest possible numbers.
    const isOpen = riff > 0x7fff_0000
    return faultsIf(
      !isOpen && (riff !== body.length || end > body.length),
      `WAV: ${riff} declared, ${body.length} bytes`,
    )
  }
  const { encoding = 'pcm_s16le' } = (example as { audio?: { encoding?: string } } | undefined)?.audio ?? {}
  return faultsIf(encoding === 'pcm_s16le' && body.length % 2 !== 0, `${body.length} bytes are half a sample too long`)
}

/** Speech is never faster or slower than this, in seconds for one character. */
const secondsMin = 0.015
const secondsMax = 0.5

async function plausible(probe: Probe): Promise<Found> {
  const { operation, run } = probe
  if (operation.id !== 'createSpeech') return null
  const rateHz = 16_000
  const audio = { encoding: 'pcm_s16le', sample_rate_hz: rateHz, channels: 1 }
  const wanted = await acceptable(probe, { input: 'Your table is booked for seven.', audio })
  if (isReason(wanted)) return wanted
  const received = await ask(probe, wanted)
  if (!isSuccess(received)) return inapplicable(`this deployment answers ${said(received)}`)
  const characters = Number(received.headers[`${run.headerPrefix.toLowerCase()}-usage-characters`])
  const seconds = received.body.length / 2 / rateHz / characters
  const isFit = seconds >= secondsMin && seconds <= secondsMax
  return faultsIf(!isFit, `${received.body.length} bytes for ${characters} characters`)
}
