import t, { type Test } from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat, Recording } from '../../audio/format.ts'
import type { Model } from '../../domain/ports/model.ts'
import type { SttRequest, Transcript } from '../../domain/ports/stt.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { createSynthesize, type SynthesizeInput } from '../../domain/speech/synthesize.ts'
import { createTranscribe, type TranscribeInput } from '../../domain/speech/transcribe.ts'
import { createResampler } from '../../runtime/optional.ts'
import { settled } from '../clock.ts'
import { bench, caller, collect, failure, fault, hang, model, order, provider, script } from './fakes.ts'
import { routerError } from './router-error.ts'

const convertSpeech = createConvertSpeech(createResampler)

const auto: Routing = { mode: 'auto', objective: 'balanced' }
const pcm24: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
const recording: Recording = {
  chunks: [new Uint8Array(32_000)],
  bytes: 32_000,
  format: { container: 'wav', encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 },
  dataOffset: 0,
  dataBytes: 32_000,
  durationMs: 1000,
}
const transcript: Transcript = { text: 'hello', segments: [] }

type Recognition = Transcript | Error

function transcribing(recognitions: Recognition[], over: Partial<Model>[] = []) {
  const asked: SttRequest[] = []
  const providers = recognitions.map((each, i) => {
    const transcribe = (request: SttRequest) => {
      asked.push(request)
      return each instanceof Error ? Promise.reject(each) : Promise.resolve(each)
    }
    return provider('abc'[i] ?? '', [model('stt', over[i] ?? {})], { stt: { transcribe } })
  })
  const all = bench(providers)
  const transcribe = (extra: Partial<TranscribeInput> = {}) =>
    createTranscribe(all.deps)({ ...order(), routing: auto, recording, ...extra })
  return { ...all, asked, transcribe }
}

t.test('transcribe returns the transcript, or fails with the fault of its provider', (t) => {
  t.test('transcribe answers with the transcript, the route and the usage', async (t) => {
    const prices = [{ unit: 'audio_hour' as const, microUsd: 360_000, source: 's', asOf: 'd' }]
    const all = transcribing([failure('server'), { ...transcript, billedMs: 1500.4 }], [{ prices }, { prices }])
    t.match(await all.transcribe(), {
      transcript: { text: 'hello' },
      route: { provider: 'b', model: 'm', failovers: 1 },
      usage: { durationMs: 1500, costMicroUsd: 150 },
    })
    t.match(all.ledger.last, {
      reservedMicroUsd: 100,
      row: { stage: 'stt', quantities: [{ unit: 'audio_milliseconds', amount: 1500 }], costMicroUsd: 150 },
    })
    t.equal(all.asked[0]?.recording, all.asked[1]?.recording, 'failover sends the same bytes')
    t.match(all.held, { leases: 0, ended: 1 })
    t.equal(all.clock.timers, 0)
  })

  t.test('an empty transcript is a success', async (t) => {
    const all = transcribing([{ text: '', segments: [] }])
    t.match(await all.transcribe(), { transcript: { text: '' }, usage: { durationMs: 1000, costMicroUsd: null } })
  })

  t.test('the options of a transcription reach the provider, and no other options do', async (t) => {
    const capabilities = { ...model('stt').capabilities, diarization: true, keywords: true, prompt: true }
    const all = transcribing([transcript], [{ capabilities, languages: ['es'], providerOptions: ['smart'] }])
    const providerOptions = { a: { smart: true } }
    await all.transcribe({
      language: 'es-MX',
      options: { diarization: true, keywords: ['x'], prompt: 'p', providerOptions },
    })
    t.same(all.asked[0], {
      model: 'm',
      recording,
      language: 'es',
      options: { diarization: true, keywords: ['x'], prompt: 'p', providerOptions: { smart: true } },
    })
    const plain = transcribing([transcript])
    await plain.transcribe({ options: { diarization: false, keywords: [] } })
    t.notOk('language' in (plain.asked[0] ?? {}))
    await transcribing([transcript]).transcribe({ caller: caller({ language: 'fr' }) })
    const fromKey = transcribing([transcript], [{ languages: ['fr'] }])
    await fromKey.transcribe({ caller: caller({ language: 'fr' }) })
    t.equal(fromKey.asked[0]?.language, 'fr', "the key's language fills in")
  })

  t.test('if no model has a requested capability, the error names that capability', async (t) => {
    const asks = [
      [{ diarization: true }, 'diarization'],
      [{ keywords: ['x'] }, 'keywords'],
      [{ noiseReduction: true }, 'noise_reduction'],
      [{ wordTimestamps: true }, 'word_timestamps'],
      [{ prompt: 'p' }, 'prompt'],
    ] as const
    for (const [options, name] of asks) {
      const refused = await fault(transcribing([transcript]).transcribe({ options }))
      t.match(routerError(refused), { code: 'capability_unsupported', message: new RegExp(`^${name} `) })
    }
    const narrow = transcribing(
      [transcript],
      [{ audioFormats: [{ encoding: 'pcm_s16le', sampleRatesHz: [8000], channels: [1] }] }],
    )
    t.match(routerError(await fault(narrow.transcribe())), { code: 'capability_unsupported', message: /16000 Hz/ })
    t.match(
      routerError(await fault(transcribing([transcript], [{ languages: ['en'] }]).transcribe({ language: 'de' }))),
      {
        code: 'capability_unsupported',
        message: /language de/,
      },
    )
    t.match(routerError(await fault(transcribing([transcript]).transcribe({ language: 'no such' }))), {
      code: 'invalid_parameter',
      param: '/language',
    })
  })

  t.test('provider_options has an allow-list of names for each provider', async (t) => {
    const all = transcribing([transcript, transcript], [{ providerOptions: ['smart'] }])
    const refused = (providerOptions: Record<string, Record<string, boolean>>, routing: Routing = auto) =>
      fault(all.transcribe({ routing, options: { providerOptions } }))
    t.match(routerError(await refused({ a: { smart: true, 'x/y': true } })), {
      code: 'invalid_parameter',
      param: '/options/provider_options/a/x~1y',
    })
    t.match(routerError(await refused({ b: { smart: true } }, { mode: 'explicit', provider: 'b', model: 'm' })), {
      param: '/options/provider_options/b/smart',
    })
    t.equal(all.idempotency.state, undefined)
    await all.transcribe({ options: { providerOptions: { a: { smart: true } } } })
    t.match(all.asked[0], { options: { providerOptions: { smart: true } } })
  })

  t.test('provider_options of providers that are not called have no effect', async (t) => {
    const all = transcribing([transcript, transcript], [{ providerOptions: ['smart'] }])
    const others = { b: { unheard: true }, zzz: { x: true } }
    t.match(await all.transcribe({ options: { providerOptions: others } }), { route: { provider: 'a' } })
    t.notMatch(all.asked[0], { options: { providerOptions: {} } })
  })

  t.test('an attempt after a failover fails if its provider does not allow the provider_options', async (t) => {
    const all = transcribing([failure('server'), transcript])
    const options = { providerOptions: { b: { unknown: true } } }
    const failed = await fault(all.transcribe({ options }))
    t.match(failed, { kind: 'all_failed', detail: { attempts: [{ outcome: 'server' }, { outcome: 'unsupported' }] } })
  })

  t.test('a transcription is measured by its real-time factor, and not by its first byte', async (t) => {
    const all = transcribing([transcript])
    for (const keyDigest of ['1', '2', '3', '4'])
      await all.transcribe({ key: { keyDigest, contentHash: 'h' }, recording: { ...recording, durationMs: 500 } })
    const row = all.catalog.find('stt', 'a', 'm')
    t.match(row && all.health.figures(row, 'batch'), { realTimeFactor: 0, firstByteMs: null })
  })
  t.end()
})

type Spoken = Error | 'hang' | (Uint8Array | Error | 'hang')[]

function speaking(said: Spoken[], over: Partial<Model>[] = [], format = pcm24) {
  const asked: TtsRequest[] = []
  const signals: AbortSignal[] = []
  const providers = said.map((each, i) => {
    const synthesize = (request: TtsRequest, signal: AbortSignal) => {
      asked.push(request)
      signals.push(signal)
      if (each === 'hang') return hang<never>()
      return each instanceof Error ? Promise.reject(each) : Promise.resolve({ format, audio: script(each) })
    }
    return provider('abc'[i] ?? '', [model('tts', over[i] ?? {})], { tts: { synthesize } })
  })
  const all = bench(providers)
  const synthesize = (extra: Partial<SynthesizeInput> = {}) =>
    createSynthesize({ ...all.deps, convert: convertSpeech })({
      ...order(),
      routing: auto,
      text: 'hello 😀',
      outputFormat: pcm24,
      ...extra,
    })
  return { ...all, asked, signals, synthesize }
}

function isClean(t: Test, { clock, held }: Pick<ReturnType<typeof speaking>, 'clock' | 'held'>) {
  t.equal(clock.timers, 0, 'no timer')
  t.match(held, { leases: 0, ended: 1 }, 'the lease ended once')
}

const chunk = Uint8Array.of(1, 2, 3, 4)
const prices = [{ unit: 'million_characters' as const, microUsd: 10_000_000, source: 's', asOf: 'd' }]

t.test('synthesize streams the speech, or fails with the fault of its provider', (t) => {
  t.test('synthesize resolves with the first audio and settles the cost after the last audio', async (t) => {
    const all = speaking([[new Uint8Array(0), chunk, chunk]], [{ prices }])
    const { route, characters, audio } = await all.synthesize()
    t.match(route, { provider: 'a', failovers: 0 })
    t.equal(characters, 7, 'an emoji is one character')
    t.equal(all.ledger.settlements.length, 0)
    const { items, error } = await collect(audio)
    t.equal(error, null)
    t.same(Buffer.concat(items), Buffer.concat([chunk, chunk]))
    t.match(all.ledger.last, {
      status: 'succeeded',
      reservedMicroUsd: 70,
      row: { quantities: [{ unit: 'characters', amount: 7 }], costMicroUsd: 70 },
    })
    isClean(t, all)
  })

  t.test('an answer without audio is a failure, and so is every failure before the first audio', async (t) => {
    for (const said of [[], [new Uint8Array(0)], failure('quota'), 'hang', ['hang'], [failure('server')]] as Spoken[]) {
      const all = speaking([said, [chunk]])
      const waiting = all.synthesize()
      await settled()
      await all.clock.advance(1000)
      const { route, audio } = await waiting
      t.match(route, { provider: 'b', failovers: 1 })
      t.equal((await collect(audio)).items.length, 1)
      isClean(t, all)
    }
    const none = speaking([[]])
    t.match(await fault(none.synthesize()), { kind: 'all_failed', detail: { attempts: [{ outcome: 'empty' }] } })
    isClean(t, none)
  })

  t.test('audio that breaks off is a fault and is not billed', async (t) => {
    for (const [parts, kind] of [
      [[chunk, failure('protocol')], 'stream_broken'],
      [[chunk, 'hang'], 'timed_out'],
    ] as const) {
      const all = speaking([[...parts], [chunk]], [{ prices }])
      const reading = collect((await all.synthesize()).audio)
      await settled()
      await all.clock.advance(2000)
      t.match((await reading).error, { kind, detail: { isKeySpent: true } })
      t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 0 } })
      t.equal(all.asked.length, 1)
      t.ok(all.signals[0]?.aborted)
      isClean(t, all)
    }
  })

  t.test('if the reader of speech leaves, the request ends and the text is billed', async (t) => {
    for (const leave of ['abort', 'return', 'abort unread', 'return unread']) {
      const all = speaking([[chunk, 'hang']], [{ prices }])
      const client = new AbortController()
      const iterator = (await all.synthesize({ signal: client.signal })).audio[Symbol.asyncIterator]()
      if (!leave.endsWith('unread')) await iterator.next()
      if (leave.startsWith('abort')) client.abort()
      else await iterator.return?.()
      t.ok(all.signals[0]?.aborted, leave)
      t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 70 } })
      t.same(all.attempts, ['a/m cancelled'])
      isClean(t, all)
    }
  })

  t.test('speech is converted to a format that the provider does not emit, or the format is refused', async (t) => {
    const samples = new Uint8Array(4800)
    const all = speaking([[samples]], [], { ...pcm24, sampleRateHz: 48_000 })
    const { items } = await collect(
      (await all.synthesize({ outputFormat: { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } })).audio,
    )
    const bytes = items.reduce((sum, { length }) => sum + length, 0)
    t.ok(Math.abs(bytes - 400) <= 8, `${bytes} bytes of mu-law`)
    isClean(t, all)

    const opus: OutputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }
    t.match(
      routerError(
        await fault(
          speaking([[chunk]], [{ audioFormats: [{ encoding: 'pcm_s16le', channels: [1] }] }]).synthesize({
            outputFormat: opus,
          }),
        ),
      ),
      {
        code: 'capability_unsupported',
        message: /opus/,
      },
    )
    const says = { audioFormats: [{ encoding: 'opus', channels: [1] }] }
    t.match(await fault(speaking([[chunk]], [says]).synthesize({ outputFormat: opus })), {
      kind: 'all_unsupported',
      detail: { attempts: [{ outcome: 'unsupported' }] },
    })
  })

  t.test("the request's voice is used first, then the API key's voice, then the provider's default", async (t) => {
    const voiced = (id: string) => ({ voices: [{ id, name: id, gender: 'female' as const, styles: [] }] })
    const of = async (extra: Partial<SynthesizeInput>) => {
      const all = speaking([[chunk], [chunk]], [voiced('v1'), voiced('v2')])
      await collect((await all.synthesize(extra)).audio)
      return all.asked[0]?.voice
    }
    t.equal(await of({}), undefined)
    t.equal(await of({ voice: 'v2' }), 'v2')
    t.equal(await of({ caller: caller({ voice: 'v2' }) }), 'v2')
    t.equal(await of({ voice: 'v1', caller: caller({ voice: 'v2' }) }), 'v1')
    t.match(await fault(of({ voice: 'v3' })), { kind: 'voice_unknown' })
  })

  t.test('instructions and speed are left out if the model lacks the capability', async (t) => {
    t.match(routerError(await fault(speaking([[chunk]]).synthesize({ instructions: 'cheerful' }))), {
      message: /^instructions/,
    })
    t.match(routerError(await fault(speaking([[chunk]]).synthesize({ speed: 2 }))), { message: /^speed/ })
    const all = speaking([[chunk]])
    await collect((await all.synthesize({ speed: 1 })).audio)
    t.same(all.asked[0], { model: 'm', text: 'hello 😀', outputFormat: pcm24 })
    const lenient = speaking([[chunk]])
    const { ignored, audio } = await lenient.synthesize({ speed: 2, instructions: 'cheerful', lenient: true })
    await collect(audio)
    t.same(ignored, ['instructions', 'speed'], 'a lenient request goes without them')
    t.same(lenient.asked[0], { model: 'm', text: 'hello 😀', outputFormat: pcm24 })
  })

  t.test('blank text is refused before an idempotency key or credit is used', async (t) => {
    const all = speaking([[chunk]])
    t.match(await fault(all.synthesize({ text: ' \n' })), { kind: 'blank_text' })
    t.equal(all.held.ended, 0)
  })
  t.end()
})
