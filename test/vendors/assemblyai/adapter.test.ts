import t from 'tap'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { StreamTranscript, SttStreamSink } from '../../../domain/ports/stt.ts'
import { createAssemblyaiProvider } from '../../../providers/assemblyai/provider.ts'
import { livePath } from '../../../providers/assemblyai/stt-live.ts'
import { Chunks } from '../../../providers/assemblyai/stt-live-chunks.ts'
import { classOfCode } from '../../../providers/assemblyai/wire.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { catalog, never, present, until, vendorOptions } from '../suite/given.ts'
import { rawRecording, recordingPcm, sttSuite } from '../suite/stt.ts'
import { sttStreamSuite } from '../suite/stt-live.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { sessionS, startAssemblyaiStub } from './stub.ts'

const apiKey = 'aai-key-canary'
const provider = (baseUrl: string, limits: OutboundLimits = outboundDefaults) =>
  createAssemblyaiProvider(vendorOptions('assemblyai', apiKey, baseUrl, limits))

void t.test('AssemblyAI passes the shared adapter tests for recordings', async (t) => {
  const stub = await startAssemblyaiStub()
  t.teardown(() => stub.close())
  await sttSuite(t, {
    provider,
    stub,
    model: 'universal-2',
    apiKey,
    billedMs: 1000,
    expected: {
      error_mid: { errorClass: 'server', because: 'a transcript that failed carries a sentence and no code' },
    },
    keeps: { sockets: 1, because: 'the transcript is deleted after its caller has left' },
  })
})

void t.test('a recording is uploaded, transcribed and polled for, and its transcript is deleted', async (t) => {
  const stub = await startAssemblyaiStub()
  const assemblyai = provider(stub.url)
  t.teardown(() => stub.close())
  t.teardown(() => assemblyai.close())
  const transcript = await assemblyai.ports.speech?.stt?.transcribe(
    {
      model: 'universal-3-pro',
      recording: rawRecording(recordingPcm),
      language: 'en-GB',
      options: {
        diarization: true,
        keywords: ['Parley'],
        wordTimestamps: true,
        prompt: 'A call.',
        providerOptions: { disfluencies: true },
      },
    },
    never,
  )
  await until(() => stub.seen.some(({ method }) => method === 'DELETE'), 'the transcript was not deleted')
  const [upload, order, ...polls] = stub.seen
  t.same([upload?.method, upload?.path, upload?.headers['authorization']], ['POST', '/v2/upload', apiKey])
  t.equal(upload?.headers['content-type'], 'application/octet-stream')
  t.same(JSON.parse(String(order?.body)), {
    audio_url: 'https://cdn.assemblyai.com/upload-0',
    speech_models: ['universal-3-pro'],
    language_code: 'en_uk',
    speaker_labels: true,
    keyterms_prompt: ['Parley'],
    prompt: 'A call.',
    disfluencies: true,
  })
  t.same(
    polls.map(({ method, path }) => `${method} ${path}`),
    ['GET /v2/transcript/job-1', 'DELETE /v2/transcript/job-1'],
  )
  const text = transcriptOf(recordingPcm)
  t.match(transcript, {
    text,
    language: 'en-GB',
    billedMs: 1000,
    segments: [{ text, startMs: 0, endMs: 250, speaker: 'A' }],
  })
  t.match(transcript?.words, [{ text: 'heard', startMs: 0, endMs: 125, confidence: 0.9, speaker: 'A' }, { endMs: 250 }])
})

void t.test('the polls for a transcript have growing delays and a limit', async (t) => {
  const stub = await startAssemblyaiStub()
  t.teardown(() => stub.close())
  stub.behave('slow_first_byte')
  const delays: number[] = []
  // Only the delays between polls move the clock. So the transcript is never ready before the time limit.
  let nowMs = 0
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: (delayMs: number, run: () => void) => {
      // The clock ignores two timers: the deletion's timer, and the pool's timer for its deadlines.
      if (delayMs === 5000 || delayMs === 250) return () => {}
      delays.push(delayMs)
      nowMs += delayMs
      const timer = setImmediate(run)
      return () => clearImmediate(timer)
    },
  }
  const limits = { ...outboundDefaults, totalMs: 20_000 }
  const own = { id: 'assemblyai', baseUrl: stub.url, apiKey, models: null, limits, clock, catalog, unavailable: null }
  const assemblyai = createAssemblyaiProvider(own)
  const request = { model: 'universal-2', recording: rawRecording(recordingPcm), options: {} }
  const failed = present(assemblyai.ports.speech?.stt, 'stt').transcribe(request, never)
  t.equal(await failed.catch((error: unknown) => error instanceof ProviderError && error.errorClass), 'timeout')
  t.same(delays.slice(0, 3), [200, 300, 450], 'asked for less and less often')
  t.equal(Math.max(...delays), 3000)
  t.ok(nowMs <= 20_000, 'within the time of the whole call')
  await until(() => stub.seen.some(({ method }) => method === 'DELETE'), 'the transcript was not deleted')
  await assemblyai.close()
})

void t.test('AssemblyAI passes the shared adapter tests for live recognition', async (t) => {
  const stub = await startAssemblyaiStub()
  t.teardown(() => stub.close())
  for (const model of ['universal-streaming-multilingual', 'u3-rt-pro']) {
    await t.test(model, (t) =>
      sttStreamSuite(t, {
        provider,
        stub,
        model,
        apiKey,
        billedMs: sessionS * 1000,
        expected: { error_mid: { errorClass: 'server', because: 'this vendor has no code for its overload' } },
      }),
    )
  }
})

void t.test('a live session of AssemblyAI has its options in the query', (t) => {
  const audio = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } as const
  const asked = {
    audio,
    interimResults: true,
    words: false,
    endpointingMs: 400,
    keywords: ['Parley'],
    prompt: 'A call.',
  }
  const queryOf = (model: string, language?: string) =>
    Object.fromEntries(new URL(livePath({ ...asked, model, ...(language && { language }) }), 'http://x').searchParams)
  const shared = {
    sample_rate: '8000',
    encoding: 'pcm_mulaw',
    min_turn_silence: '400',
    max_turn_silence: '400',
    keyterms_prompt: '["Parley"]',
    prompt: 'A call.',
  }
  const multilingual = { speech_model: 'universal-streaming-multilingual', format_turns: 'true' }
  t.same(queryOf('universal-streaming-multilingual'), { ...shared, ...multilingual, language_detection: 'true' })
  t.same(queryOf('universal-streaming-multilingual', 'de'), { ...shared, ...multilingual })
  const newest = { speech_model: 'universal-3-5-pro', language_codes: '["de"]' }
  t.same(queryOf('universal-3-5-pro', 'de'), { ...shared, ...newest })
  t.end()
})

void t.test('audio is sent to AssemblyAI in chunks of the sizes that it accepts', (t) => {
  const pcm = sinePcm(16_000 * 3, 16_000)
  const sent: Buffer[] = []
  const chunks = new Chunks({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, (bytes) =>
    sent.push(Buffer.from(bytes)),
  )
  for (let at = 0; at < 64_000; at += 640) chunks.push(pcm.subarray(at, at + 640))
  chunks.push(pcm.subarray(64_000, 64_000 + 320))
  chunks.push(pcm.subarray(64_320, 95_680))
  chunks.push(pcm.subarray(95_680))
  t.equal(chunks.flush(), 40)
  t.equal(chunks.flush(), 0)
  t.ok(sent.every(({ length }) => length >= 1600 && length <= 32_000))
  const all = Buffer.concat(sent)
  t.ok(all.subarray(0, pcm.length).equals(pcm), 'all of it, once')
  t.ok(
    all.subarray(pcm.length).every((byte) => byte === 0),
    'and silence',
  )
  t.end()
})

void t.test('each turn that AssemblyAI transcribes is reported once', async (t) => {
  const stub = await startAssemblyaiStub()
  const assemblyai = provider(stub.url)
  t.teardown(() => stub.close())
  t.teardown(() => assemblyai.close())
  const reported: StreamTranscript[] = []
  let isEnded = false
  const sink: SttStreamSink = {
    speechStarted: () => {},
    transcript: (transcript) => reported.push(transcript),
    ended: () => {
      isEnded = true
    },
    failed: (error) => t.fail('failed', { error }),
  }
  const audio = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
  const request = { model: 'universal-streaming-multilingual', audio, interimResults: true, words: true }
  const stream = await assemblyai.ports.speech?.stt?.open?.(request, sink, never)
  const pcm = sinePcm(3200 + 160, 16_000)
  const speak = () => [pcm.subarray(0, 6400), pcm.subarray(6400)].forEach((frame) => void stream?.audio(frame))
  speak()
  stream?.flush()
  await until(() => reported.some(({ isFinal }) => isFinal), 'no final')
  speak()
  stream?.end()
  await until(() => isEnded, 'no end')
  const finals = reported.filter(({ isFinal }) => isFinal)
  t.same(
    finals.map(({ utterance, speechFinal, language }) => ({ utterance, speechFinal, language })),
    [0, 1].map((utterance) => ({ utterance, speechFinal: true, language: 'en' })),
  )
  t.match(finals[0], {
    startMs: 0,
    endMs: 250,
    confidence: 0.9,
    words: [{ text: 'heard', startMs: 0, endMs: 125 }, {}],
  })
  t.match(finals[1], { startMs: 210, endMs: 460 }, 'silence that was added is not counted')
  t.ok(reported[0] && !reported[0].isFinal && reported[0].text === 'heard')
  t.same(stub.seen[0]?.texts, ['{"type":"ForceEndpoint"}', '{"type":"Terminate"}'])
})

void t.test('each close code of AssemblyAI has its error class', (t) => {
  const classes = {
    auth: [1008, 4001],
    quota: [4002, 4003],
    rate_limited: [3009, 4029, 4102],
    server: [3005],
    bad_request: [3006, 3007],
  }
  for (const [errorClass, codes] of Object.entries(classes))
    for (const code of codes) t.equal(classOfCode(code), errorClass, String(code))
  t.equal(classOfCode(1006), null)
  t.end()
})
