import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat } from '../../audio/format.ts'
import type { Route } from '../../domain/dispatch/request.ts'
import type { Model } from '../../domain/ports/model.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import type { Fault } from '../../domain/records/fault.ts'
import { SentenceBuffer } from '../../domain/speech/sentence-buffer.ts'
import type { SpeechSink, StreamUsage, SynthesizeStreamInput } from '../../domain/speech/stream.ts'
import { createSynthesizeStream } from '../../domain/speech/synthesize-stream.ts'
import { createResampler } from '../../runtime/optional.ts'
import { settled } from '../clock.ts'
import { isClean } from './fake-llm.ts'
import { bench, failure, hang, model, order, provider, script } from './fakes.ts'

const convertSpeech = createConvertSpeech(createResampler)

const pcm24: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
const prices = [{ unit: 'million_characters' as const, microUsd: 10_000_000, source: 's', asOf: 'd' }]

class RecordedEvents implements SpeechSink {
  readonly events: string[] = []
  usage: StreamUsage | null = null
  fault: Fault | null = null
  route: Route | null = null
  isFlowing = true

  ready(route: Route): void {
    this.events.push(`ready ${route.provider}`)
    this.route = route
  }
  audio(bytes: Uint8Array): boolean {
    this.events.push(`audio ${bytes[0]}${bytes.length > 2 ? ` ${bytes.length}` : ''}`)
    return this.isFlowing
  }
  cleared(charactersSent: number): void {
    this.events.push(`cleared ${charactersSent}`)
  }
  ended(usage: StreamUsage): void {
    this.events.push('ended')
    this.usage = usage
  }
  failed(fault: Fault): void {
    this.events.push(`failed ${fault.kind}`)
    this.fault = fault
  }
}

type Part = Uint8Array | Error | 'hang'
/** Returns the audio for sentence number n: two chunks, each with two bytes n. */
const spoken = (n: number): Part[] => [Uint8Array.of(n, n), Uint8Array.of(n, n)]

function setup(said: (Part[] | Error | 'hang')[] = [], over: Partial<Model> = {}) {
  const asked: TtsRequest[] = []
  const signals: AbortSignal[] = []
  const synthesize = (request: TtsRequest, signal: AbortSignal) => {
    asked.push(request)
    signals.push(signal)
    const each = said[asked.length - 1] ?? spoken(asked.length)
    if (each === 'hang') return hang<never>()
    return each instanceof Error ? Promise.reject(each) : Promise.resolve({ format: pcm24, audio: script(each) })
  }
  const all = bench([provider('a', [model('tts', over)], { tts: { synthesize } })])
  const sink = new RecordedEvents()
  const streams = { totalMs: 600_000, waitingMax: 1000 }
  const start = createSynthesizeStream({ ...all.deps, convert: convertSpeech, streams })
  const begin = (extra: Partial<SynthesizeStreamInput> = {}) => {
    const { caller, requestId, signal } = order()
    const unkeyed = { caller, requestId, signal, operation: 'synthesizeStream' }
    return start({ ...unkeyed, routing: { mode: 'auto', objective: 'balanced' }, outputFormat: pcm24, ...extra }, sink)
  }
  return { ...all, asked, signals, sink, begin, texts: () => asked.map(({ text }) => text) }
}

t.test('text becomes speech sentence by sentence', async (t) => {
  const all = setup([], { prices })
  const stream = all.begin()
  stream.text('One. Tw')
  t.same(all.sink.events, [], 'no event comes before the stream is open')
  await settled()
  t.same(all.texts(), ['One.'])
  t.same(all.sink.events, ['ready a', 'audio 1', 'audio 1'])
  stream.text('o, three')
  await settled()
  t.same(all.texts(), ['One.'])
  stream.flush()
  await settled()
  t.same(all.texts(), ['One.', 'Two, three'])
  stream.text('Last \u{1f600}')
  stream.end()
  stream.text('too late')
  await settled()
  t.same(all.sink.events.slice(3), ['audio 2', 'audio 2', 'audio 3', 'audio 3', 'ended'])
  t.same(all.sink.usage, { characters: 20, costMicroUsd: 200 })
  t.match(all.ledger.last, {
    status: 'succeeded',
    reservedMicroUsd: 10_000,
    row: { operation: 'synthesizeStream', quantities: [{ unit: 'characters', amount: 20 }], costMicroUsd: 200 },
  })
  t.equal(all.ledger.settlements.length, 1)
  isClean(t, all)

  const nothing = setup()
  const mute = nothing.begin()
  mute.text(' \u{1f600} ... ')
  mute.end()
  await settled()
  t.same(nothing.sink.events, ['ready a', 'ended'], 'a text without words is silence')
  t.same(nothing.asked, [])
  t.match(nothing.ledger.last.row, { firstByteMs: null, costMicroUsd: 0 })
  isClean(t, nothing)
})

t.test('the next sentence is requested while the audio of the current sentence is sent', async (t) => {
  const all = setup()
  const stream = all.begin()
  all.sink.isFlowing = false
  stream.text('One. Two. Three. ')
  await settled()
  t.same(all.texts(), ['One.', 'Two.'], 'one sentence is requested ahead')
  t.same(all.sink.events, ['ready a', 'audio 1'], 'no audio is handed over until the sink takes more')
  all.sink.isFlowing = true
  stream.resume()
  stream.resume()
  await settled()
  t.same(all.texts(), ['One.', 'Two.', 'Three.'])
  t.equal(all.sink.events.length, 7)
  stream.leave()
  isClean(t, all)
})

t.test('`clear` drops all speech that was not yet sent to the client', async (t) => {
  const all = setup([[Uint8Array.of(1, 1), 'hang']])
  const stream = all.begin()
  stream.text('One. Two. Three. And')
  await settled()
  t.same(all.texts(), ['One.', 'Two.'])
  stream.clear()
  t.same(
    all.sink.events,
    ['ready a', 'audio 1', 'cleared 0'],
    'while clear runs; a sentence that was cut off does not count',
  )
  t.ok(
    all.signals.every(({ aborted }) => aborted),
    'the sentence that was requested ahead is cancelled too',
  )
  stream.text('New. ')
  await settled()
  t.same(all.texts(), ['One.', 'Two.', 'New.'])
  t.same(all.sink.events.slice(3), ['audio 3', 'audio 3'], 'no audio of the old text')
  stream.clear()
  t.equal(all.sink.events.at(-1), 'cleared 5', 'a sentence that was handed over whole counts')
  stream.text('Ab \u{1f600}. ')
  await settled()
  stream.clear()
  t.equal(all.sink.events.at(-1), 'cleared 11', 'since the start, in code points')
  stream.end()
  t.same(all.sink.usage, { characters: 17, costMicroUsd: null }, 'the text that was sent to a provider is billed')
  isClean(t, all)

  const paused = setup()
  const another = paused.begin()
  paused.sink.isFlowing = false
  another.text('One. Two. ')
  await settled()
  another.clear()
  another.text('Three. ')
  another.end()
  await settled()
  t.same(paused.sink.events, ['ready a', 'audio 1', 'cleared 0'], 'the sink still takes no audio')
  paused.sink.isFlowing = true
  another.resume()
  await settled()
  t.same(paused.sink.events.slice(3), ['audio 3', 'audio 3', 'ended'])
  isClean(t, paused)

  const ending = setup([[Uint8Array.of(1, 1), 'hang']])
  const last = ending.begin()
  last.text('One.')
  last.end()
  await settled()
  last.clear()
  t.same(ending.sink.events, ['ready a', 'audio 1', 'cleared 0', 'ended'])
  isClean(t, ending)

  const early = setup()
  const opening = early.begin()
  opening.text('One. ')
  opening.clear()
  opening.text('Two. ')
  await settled()
  t.same(early.texts(), ['Two.'], 'before a provider was chosen')
  opening.leave()
})

t.test('speech is sent to the client in chunks of bounded size', async (t) => {
  const all = setup([[new Uint8Array(10_001)]])
  const stream = all.begin()
  stream.text('One.')
  stream.end()
  await settled()
  t.same(all.sink.events, ['ready a', 'audio 0 4800', 'audio 0 4800', 'audio 0 400', 'ended'])
})

t.test('a provider that fails or stalls ends the stream with stream_broken or timed_out', async (t) => {
  for (const [said, kind] of [
    [failure('server'), 'stream_broken'],
    [[], 'stream_broken'],
    [[new Uint8Array(0)], 'stream_broken'],
    ['hang', 'timed_out'],
    [[Uint8Array.of(2, 2), 'hang'], 'timed_out'],
    [[Uint8Array.of(2, 2), failure('protocol')], 'stream_broken'],
  ] as const) {
    const all = setup([spoken(1), typeof said === 'string' || said instanceof Error ? said : [...said]], { prices })
    const stream = all.begin()
    stream.text('One. Second. ')
    await settled()
    await all.clock.advance(2000)
    t.same(all.sink.events.slice(0, 3), ['ready a', 'audio 1', 'audio 1'], 'the audio before it is handed over')
    t.equal(all.sink.events.at(-1), `failed ${kind}`)
    t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 40 } })
    stream.text('More. ')
    stream.clear()
    stream.end()
    t.equal(all.sink.events.at(-1), `failed ${kind}`, 'it is the last event')
    isClean(t, all)
  }
})

t.test('a stream of speech fails if no provider can be chosen', async (t) => {
  const all = setup([], { voices: [{ id: 'v', name: 'V', gender: 'female', styles: [] }] })
  all.begin({ voice: 'w' })
  await settled()
  t.match(all.sink.fault, { kind: 'voice_unknown' })
  isClean(t, all)
  const fits = setup([], { voices: [{ id: 'v', name: 'V', gender: 'female', styles: [] }] })
  const stream = fits.begin({ voice: 'v' })
  stream.text('One. Two. ')
  await settled()
  t.same(
    fits.asked.map(({ voice }) => voice),
    ['v', 'v'],
  )
  stream.leave()
})

t.test('the queue of unspoken text in a stream of speech is bounded', async (t) => {
  const all = setup(['hang'])
  const stream = all.begin()
  for (let i = 0; i < 11; i++) stream.text('x'.repeat(99))
  t.same(all.sink.events, ['failed too_much_text'])
  await settled()
  t.same(all.sink.events, ['failed too_much_text'])
  isClean(t, all)

  const emoji = setup(['hang'])
  const fits = emoji.begin()
  fits.text('\u{1f600}'.repeat(1000))
  t.same(emoji.sink.events, [], 'a limit counts code points')
  fits.text('x')
  t.same(emoji.sink.events, ['failed too_much_text'])

  const long = setup()
  long.begin()
  await settled()
  await long.clock.advance(600_000)
  t.match(long.sink.fault, { kind: 'timed_out' })
  isClean(t, long)
})

t.test('the credit of a stream of speech is reserved in slices', async (t) => {
  const all = setup([], { prices })
  all.credit.balance = 21_000
  const stream = all.begin()
  const say = async () => {
    for (let i = 0; i < 10; i++) stream.text(`${'x'.repeat(98)}. `)
    await settled()
    await settled()
  }
  await say()
  t.equal(all.credit.reserved, 10_000)
  await say()
  t.equal(all.credit.reserved, 20_000)
  await say()
  t.equal(all.sink.events.at(-1), 'failed credit_exhausted')
  t.match(all.ledger.last, { reservedMicroUsd: 20_000, row: { outcome: 'credit_exhausted' } })
  isClean(t, all)
})

t.test('the time to the first audio of a stream is measured from its first sentence', async (t) => {
  const figures: number[] = []
  const all = setup(['hang'])
  all.deps.metrics.firstByte = (_stage, _provider, _model, ms) => figures.push(ms)
  const stream = all.begin()
  await settled()
  await all.clock.advance(5000)
  t.same(figures, [], 'choosing a provider is not media')
  stream.leave()
  isClean(t, all)
  const spoke = setup()
  const another = spoke.begin()
  await settled()
  await spoke.clock.advance(5000)
  another.text('One. Two. ')
  another.end()
  await settled()
  t.equal(spoke.ledger.last.row.firstByteMs, 0, 'the wait for text does not count for the provider')
})

t.test('if the client leaves a stream of speech, the requests end and are settled', async (t) => {
  const all = setup([[Uint8Array.of(1, 1), 'hang']], { prices })
  const stream = all.begin()
  stream.text('One. Two. ')
  await settled()
  stream.leave()
  stream.leave()
  await settled()
  t.same(all.sink.events, ['ready a', 'audio 1'])
  t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 80 } })
  t.ok(all.signals.every(({ aborted }) => aborted))
  isClean(t, all)
})

t.test('SentenceBuffer cuts text into sentences and loses no text', (t) => {
  const cut = (...pieces: string[]) => {
    const buffer = new SentenceBuffer({ wholePieces: true })
    const whole = pieces.flatMap((piece) => buffer.push(piece))
    const rest = buffer.flush()
    t.equal([...whole, rest].join(''), pieces.join(''), 'no text is lost')
    return rest === '' ? whole : [...whole, rest]
  }
  t.same(cut('Hello. World'), ['Hello. ', 'World'])
  t.same(cut('Really?! "Yes." Well; fine: so'), ['Really?! ', '"Yes." ', 'Well; ', 'fine: ', 'so'])
  t.same(cut('It costs 3.14 euros, v1.2.3. Right'), ['It costs 3.14 euros, v1.2.3. ', 'Right'])
  t.same(cut('It costs 3.', '14 euros.'), ['It costs 3.14 euros.'])
  t.same(cut('Dr. Smith and Mrs. Jones, e.g. J. Doe. End'), ['Dr. Smith and Mrs. Jones, e.g. J. Doe. ', 'End'])
  t.same(cut('Dr', '.', ' Smith'), ['Dr. Smith'])
  t.same(cut('1. First\n2. Second'), ['1. First\n', '2. Second'])
  t.same(cut('Hello.'), ['Hello.'], 'a piece that ends a sentence')
  t.same(cut('line\nnext'), ['line\n', 'next'])
  t.same(cut('你好。今天怎么样？很好'), ['你好。', '今天怎么样？', '很好'])
  t.same(cut('... ', '\u{1f600}! Hi. '), ['... \u{1f600}! Hi. '], 'punctuation alone is not a sentence')
  const long = cut(`${'word '.repeat(60)}word, ${'word '.repeat(60)}`)
  t.ok(long.length > 1 && long.every(({ length }) => length <= 400))
  t.equal(long[0]?.endsWith('word,'), true, 'at the comma')
  t.same(
    cut('\u{1f600}'.repeat(300)).map(({ length }) => length),
    [400, 200],
  )
  t.same(
    cut(`x${'\u{1f600}'.repeat(300)}`).map(({ length }) => length),
    [399, 202],
    'never inside a character',
  )
  t.end()
})
