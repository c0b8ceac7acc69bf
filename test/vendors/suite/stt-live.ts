/**
 * The behaviour suite of `Stt.open`. At each flush and at the end, the stub transcribes the samples since the last
 * final transcript as `transcriptOf(samples)`. It sends an interim transcript after the first samples of an utterance.
 * An utterance's final transcripts are joined with spaces. A failure comes in the vendor's way: as a refused upgrade,
 * or as a frame after the upgrade. In `hang` the opening is not answered.
 */
import type { Test } from 'tap'
import type { Provider } from '../../../domain/ports/provider.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type {
  StreamAudio,
  StreamTranscript,
  SttStream,
  SttStreamRequest,
  SttStreamSink,
} from '../../../domain/ports/stt.ts'
import {
  checkSecrets,
  never,
  type PortRules,
  playOperation,
  present,
  type SuiteGiven,
  until,
  withProvider,
} from './given.ts'
import { pause, sinePcm, transcriptOf } from './stub-server.ts'

export type SttStreamGiven = SuiteGiven & {
  /** The stream's audio format. If absent, 16 kHz s16le mono. */
  audio?: StreamAudio
  /** Two utterances in that format. If absent, sine tones in s16le at the stream's rate. */
  utterances?: readonly [Buffer, Buffer]
  /** Returns the stub's transcript for an utterance. If absent, `transcriptOf` makes it. */
  text?: (utterance: Buffer) => string
  /** The reason why a caller cannot end an utterance. If absent, a caller can. */
  withoutFlush?: string
  /** The reason why there are no interim transcripts. If absent, there are some. */
  withoutInterims?: string
  /** The billed time for both utterances. If absent, the vendor does not report it. */
  billedMs?: number
}

export async function sttStreamSuite(t: Test, given: SttStreamGiven): Promise<void> {
  await playOperation(t, given, rules, {
    name: 'open',
    call: async (provider, signal) => converse(given, await listen(t, provider, given, signal), signal),
    check: (t, events) => checkConversation(t, events, given),
  })
  for (const [title, skip, play] of extras(given)) {
    await t.test(`open: ${title}`, { skip }, (t) =>
      withProvider(t, given, 'ok', (provider) => play(t, provider, given)),
    )
  }
}

export type StreamEvent =
  | { type: 'speech'; startMs: number }
  | { type: 'transcript'; transcript: StreamTranscript }
  | { type: 'ended'; billedMs: number | undefined }
  | { type: 'failed'; error: ProviderError }

export type Listening = { stream: SttStream; events: StreamEvent[] }

/** A stream with all its events. An event before the opening, or without an opening, fails the test. */
export async function listen(
  t: Test,
  provider: Provider,
  given: SttStreamGiven,
  signal: AbortSignal,
  changes: Partial<SttStreamRequest> = {},
): Promise<Listening> {
  const stt = present(provider.ports.speech?.stt, 'stt')
  const open = present(stt.open?.bind(stt), 'stt.open')
  const events: StreamEvent[] = []
  const sink: SttStreamSink = {
    speechStarted: (startMs) => events.push({ type: 'speech', startMs }),
    transcript: (transcript) => events.push({ type: 'transcript', transcript }),
    ended: (billedMs) => events.push({ type: 'ended', billedMs }),
    failed: (error) => {
      checkSecrets(t, given, error)
      events.push({ type: 'failed', error })
    },
  }
  const request: SttStreamRequest = {
    model: given.model,
    audio: audioOf(given),
    interimResults: given.withoutInterims === undefined,
    words: false,
    ...changes,
  }
  const stream = await open(request, sink, signal).catch(async (error: unknown) => {
    await pause(20)
    t.same(events, [], 'a stream that did not open tells nothing')
    throw error
  })
  return { stream, events }
}

/** Sends frames like a client. Neighbouring frames differ in length. */
export function send({ stream }: Listening, samples: Buffer, given: SttStreamGiven): void {
  const { encoding, channels } = audioOf(given)
  const step = (encoding === 'pcm_s16le' ? 2 : 1) * channels
  let frames = 1
  for (let at = 0; at < samples.length; frames = ((frames * 7) % 331) + 1) {
    // The adapter may use these bytes only during the call. They are overwritten afterwards, which reveals an adapter
    // that keeps them.
    const lent = Buffer.from(samples.subarray(at, at + frames * step))
    stream.audio(lent)
    lent.fill(0x55)
    at += frames * step
  }
}

export const finalsOf = (events: readonly StreamEvent[], utterance: number): StreamTranscript[] =>
  transcriptsOf(events).filter((transcript) => transcript.isFinal && transcript.utterance === utterance)

export const isOver = ({ events }: Listening): boolean =>
  events.some(({ type }) => type === 'ended' || type === 'failed')

export const audioOf = ({
  audio = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 },
}: SttStreamGiven): StreamAudio => audio

export function utterancesOf(given: SttStreamGiven): readonly [Buffer, Buffer] {
  const { sampleRateHz } = audioOf(given)
  return given.utterances ?? [sinePcm(sampleRateHz * 0.4, sampleRateHz), sinePcm(sampleRateHz * 0.3, sampleRateHz)]
}

/** After the opening an adapter may report failures as events; before it, the opening rejects. */
const rules: PortRules = {
  callersDeadline: true,
  cannot: { half_sample: 'only whole samples come in' },
  expected: {
    empty: { errorClass: 'protocol', because: 'a stream that is closed without its terminal mark was cut' },
    header_only: { errorClass: 'protocol', because: 'a stream that is closed without its terminal mark was cut' },
  },
}

const transcriptsOf = (events: readonly StreamEvent[]): StreamTranscript[] =>
  events.flatMap((event) => (event.type === 'transcript' ? [event.transcript] : []))

/** Two utterances, or one if only the vendor ends utterances. Rejects with the stream's failure. */
async function converse(given: SttStreamGiven, listening: Listening, signal: AbortSignal): Promise<StreamEvent[]> {
  const { stream, events } = listening
  const [first, second] = utterancesOf(given)
  const isDone = () => isOver(listening) || signal.aborted
  try {
    send(listening, first, given)
    if (given.withoutFlush === undefined) {
      stream.flush()
      await until(() => finalsOf(events, 0).some(isLast) || isDone(), 'a flush brought no final')
    }
    if (!isDone()) {
      send(listening, second, given)
      stream.end()
    }
    await until(isDone, 'the stream neither ended nor failed')
    await pause(30)
  } finally {
    stream.close()
    stream.close()
  }
  const over = events.findIndex(({ type }) => type === 'ended' || type === 'failed')
  if (over >= 0 && over < events.length - 1) throw new Error(`an event after the end: ${events[over + 1]?.type}`)
  const last = events.at(-1)
  if (last?.type === 'failed') throw last.error
  // An adapter need not report a cancel.
  if (signal.aborted) throw new ProviderError('cancelled', { sent: true })
  return events
}

const isLast = ({ speechFinal }: StreamTranscript) => speechFinal

function checkConversation(t: Test, events: StreamEvent[], given: SttStreamGiven): void {
  const { text = transcriptOf, billedMs } = given
  const [first, second] = utterancesOf(given)
  const said = given.withoutFlush === undefined ? [first, second] : [Buffer.concat([first, second])]
  for (const [utterance, samples] of said.entries()) {
    const finals = finalsOf(events, utterance)
    t.equal(finals.map(({ text }) => text).join(' '), text(samples), `utterance ${utterance}: all of the audio, once`)
    t.same(finals.map(isLast), [...finals.slice(1).map(() => false), true], 'the last final ends the utterance')
  }
  const transcripts = transcriptsOf(events)
  if (given.withoutInterims === undefined)
    t.ok(
      transcripts.some(({ isFinal }) => !isFinal),
      'partials were asked for',
    )
  t.same(
    transcripts.map(({ utterance }) => utterance),
    transcripts.map(({ utterance }) => utterance).sort(),
    'utterances in order',
  )
  for (const { startMs, endMs } of transcripts) t.ok(startMs >= 0 && endMs >= startMs, 'a transcript has its time')
  const end = events.at(-1)
  t.equal(end?.type === 'ended' ? end.billedMs : Number.NaN, billedMs, 'billedMs')
}

type Extra = [
  title: string,
  skip: string | false,
  play: (t: Test, provider: Provider, given: SttStreamGiven) => Promise<void>,
]

const extras = (given: SttStreamGiven): Extra[] => [
  ['no interim transcripts are sent if they were not requested', given.withoutInterims ?? false, playWithoutPartials],
  ['silence yields no transcript', false, playSilence],
  ['a stream without audio ends without a transcript', false, playNothing],
  ['closing the stream ends the connection and its events', false, playClose],
  ['aborting the signal ends the connection and its events', false, playAbort],
]

async function playWithoutPartials(t: Test, provider: Provider, given: SttStreamGiven): Promise<void> {
  const listening = await listen(t, provider, given, never, { interimResults: false })
  const events = await converse(given, listening, never)
  t.ok(transcriptsOf(events).length > 0)
  t.ok(transcriptsOf(events).every(({ isFinal }) => isFinal))
}

async function playSilence(t: Test, provider: Provider, given: SttStreamGiven): Promise<void> {
  const listening = await listen(t, provider, given, never)
  listening.stream.audio(Buffer.alloc(utterancesOf(given)[0].length))
  listening.stream.end()
  await until(() => isOver(listening), 'silence does not end')
  t.same(
    listening.events.map(({ type }) => type),
    ['ended'],
  )
  listening.stream.close()
}

async function playNothing(t: Test, provider: Provider, given: SttStreamGiven): Promise<void> {
  const listening = await listen(t, provider, given, never)
  listening.stream.end()
  await until(() => isOver(listening), 'an empty stream does not end')
  t.same(
    listening.events.map(({ type }) => type),
    ['ended'],
  )
  listening.stream.close()
}

async function playClose(t: Test, provider: Provider, given: SttStreamGiven): Promise<void> {
  const listening = await listen(t, provider, given, never)
  send(listening, utterancesOf(given)[0], given)
  listening.stream.close()
  await expectSilence(t, given, listening, [])
}

/** Checks an aborted stream: after the abort only the failure `cancelled` may be reported. */
async function playAbort(t: Test, provider: Provider, given: SttStreamGiven): Promise<void> {
  const leaving = new AbortController()
  const listening = await listen(t, provider, given, leaving.signal)
  send(listening, utterancesOf(given)[0], given)
  leaving.abort()
  const reported = listening.events.filter((event) => event.type === 'failed')
  t.ok(reported.every(({ error }) => error.errorClass === 'cancelled'))
  await expectSilence(t, given, listening, reported)
  listening.stream.close()
}

async function expectSilence(
  t: Test,
  { stub, keeps }: SttStreamGiven,
  { events, stream }: Listening,
  reported: StreamEvent[],
): Promise<void> {
  const before = events.filter((event) => !reported.includes(event)).length
  await until(() => stub.openSockets <= (keeps?.sockets ?? 0), 'the connection stays open')
  await pause(30)
  const after = events.slice(before).filter(({ type }) => type !== 'failed')
  t.same(after, [], 'no event follows')
  stream.close()
  stream.close()
}
