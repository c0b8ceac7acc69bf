/** Live transcription by a Speaches server. */
import t, { type Test } from 'tap'
import type { StreamAudio, SttStreamRequest } from '../../../domain/ports/stt.ts'
import { createOpenAiProvider } from '../../../providers/openai/provider.ts'
import { createProviders } from '../../../providers/registry.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { catalog, never, patient, providerErrorOf, until } from '../suite/given.ts'
import {
  finalsOf,
  isOver,
  type Listening,
  listen,
  type SttStreamGiven,
  send,
  sttStreamSuite,
} from '../suite/stt-live.ts'
import { sinePcm, startStub, transcriptOf } from '../suite/stub-server.ts'
import { startSpeachesStub, withoutSilence } from './stub-speaches.ts'

const apiKey = 'sk-canary'
const model = 'Systran/faster-whisper-small'
const stub = await startSpeachesStub()
t.teardown(() => stub.close())
const made = (url: string, limits: OutboundLimits = patient, key: string | null = apiKey) =>
  createOpenAiProvider({
    id: 'speaches',
    baseUrl: `${url}/v1`,
    apiKey: key,
    models: { stt: [model] },
    catalog,
    maxTokensField: null,
    asksForUsage: true,
    keyCheck: '/models',
    keyCheckNeedsKey: true,
    realtime: { models: [model], rules: 'speaches' },
    limits,
    unavailable: null,
    clock: systemClock,
  })
const pcm24: StreamAudio = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
const given = (audio = pcm24): SttStreamGiven => ({
  provider: made,
  stub,
  model,
  apiKey,
  audio,
  text: (utterance) => transcriptOf(withoutSilence(utterance)),
  withoutInterims: 'an utterance is sent as a whole',
  expected: { error_mid: { errorClass: 'server', because: 'it has no word for an overload' } },
})

t.test('Speaches passes the shared adapter tests for live recognition', (t) => sttStreamSuite(t, given()))

async function open(t: Test, changes: Partial<SttStreamRequest> = {}, key: string | null = apiKey) {
  stub.behave('ok')
  const provider = made(stub.url, patient, key)
  t.teardown(() => provider.close())
  return listen(t, provider, given(changes.audio), never, changes)
}
const framesOf = () => stub.seen[0]?.texts.map((text) => JSON.parse(text) as { type: string; audio?: string }) ?? []
const reported = ({ events }: Listening) =>
  events.map((event) => {
    if (event.type !== 'transcript') return event.type
    const { utterance, text, startMs, endMs } = event.transcript
    return [utterance, text, startMs, endMs]
  })

t.test('a realtime session of Speaches is configured with its options', async (t) => {
  const listening = await open(t, { language: 'de-AT', endpointingMs: 4000 }, null)
  send(listening, sinePcm(2400, 24_000), given())
  listening.stream.flush()
  listening.stream.flush()
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  const path = '/v1/realtime?intent=transcription&model=Systran%2Ffaster-whisper-small&language=de'
  t.equal(stub.seen[0]?.path, path)
  t.notOk(stub.seen[0]?.headers['authorization'], 'without a key nothing is signed')
  const [update, ...frames] = framesOf()
  const turn_detection = {
    type: 'server_vad',
    threshold: 0.9,
    prefix_padding_ms: 0,
    silence_duration_ms: 2500,
    create_response: false,
  }
  t.same(update, { type: 'session.update', session: { turn_detection } })
  t.same(frames.at(-1), { type: 'session.update', session: {} }, 'a fence that changes nothing')
  const appended = frames.slice(0, -1)
  t.ok(appended.every(({ type }) => type === 'input_audio_buffer.append'))
  const silence = Buffer.from(appended.at(-1)?.audio ?? '', 'base64')
  t.ok(silence.equals(Buffer.alloc(3100 * 48)), 'silence ends an utterance, once')
  t.equal(stub.seen[0]?.audio.length, 4800 + silence.length)
  t.same(
    listening.events.map(({ type }) => type),
    ['speech', 'transcript', 'ended'],
    'the complaint about the update is none',
  )
})

t.test('a flush after every word does not overflow the connection to Speaches', async (t) => {
  const listening = await open(t)
  for (let word = 0; word < 60; word++) {
    send(listening, sinePcm(480, 24_000), given())
    listening.stream.flush()
  }
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  t.equal(listening.events.at(-1)?.type, 'ended')
})

t.test('a session without settings sends an empty session update', async (t) => {
  const listening = await open(t)
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  t.same(framesOf(), [{ type: 'session.update', session: {} }])
  t.equal(stub.seen[0]?.headers['authorization'], `Bearer ${apiKey}`)
})

t.test('a prompt for Speaches is refused instead of being ignored', async (t) => {
  t.match(await providerErrorOf(open(t, { prompt: 'Speisekarte' })), { errorClass: 'unsupported', sent: false })
  t.same(stub.seen, [])
})

t.test('telephone audio is converted to the format of the Speaches session', async (t) => {
  const audio: StreamAudio = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 }
  const listening = await open(t, { audio })
  listening.stream.audio(Buffer.alloc(2400, 0x2a))
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  t.equal(stub.seen[0]?.audio.length, (300 + 3100) * 48)
  t.equal(finalsOf(listening.events, 0)[0]?.endMs, 300)
})

t.test('transcript times do not count the silence that Parley sends to end an utterance', async (t) => {
  const listening = await open(t)
  const ms = (count: number) => count * 24
  const say = (length: number, pcm: Buffer = sinePcm(ms(length), 24_000)) => {
    send(listening, pcm, given())
    return transcriptOf(withoutSilence(pcm))
  }
  const quiet = (length: number) => void say(length, Buffer.alloc(ms(length) * 2))
  quiet(200)
  const one = say(500)
  listening.stream.flush()
  quiet(1000)
  const two = say(400)
  quiet(4000)
  const three = say(300)
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  const finals = [0, 1, 2].flatMap((utterance) => finalsOf(listening.events, utterance))
  t.same(
    finals.map(({ text }) => text),
    [one, two, three],
  )
  const near = (value: number | undefined, wanted: number) => t.ok(Math.abs((value ?? 0) - wanted) < 5, `${wanted} ms`)
  for (const [at, startMs] of [200, 1700, 6100].entries()) near(finals[at]?.startMs, startMs)
  near(finals[0]?.endMs, 700)
  near(finals[2]?.endMs, 6400)
  const second = finals[1]?.endMs ?? 0
  t.ok(second > 2600 && second < 6100, 'the second ends by itself, as soon as the server looks back far enough')
})

t.test('if Speaches ends an utterance twice, it is reported once', async (t) => {
  const transcription = 'conversation.item.input_audio_transcription'
  const server = await startStub({
    socket(socket) {
      const ended = (item_id: string, audio_end_ms: number, transcript: string) => {
        for (const end of [audio_end_ms, audio_end_ms + 40])
          socket.send({ type: 'input_audio_buffer.speech_stopped', item_id, audio_end_ms: end })
        for (let i = 0; i < 2; i++) socket.send({ type: 'input_audio_buffer.committed', item_id })
        socket.send({ type: 'error', error: { type: 'invalid_request_error', code: null, message: 'exists' } })
        for (let i = 0; i < 2; i++) socket.send({ type: `${transcription}.completed`, item_id, transcript })
      }
      socket.listen({
        text(text) {
          const { type } = JSON.parse(text) as { type: string }
          if (type === 'session.update') return socket.send({ type: 'session.updated' })
          socket.send({ type: 'input_audio_buffer.speech_started', item_id: 'a', audio_start_ms: 100 })
          ended('a', 900, 'one.\n')
          socket.send({ type: 'input_audio_buffer.speech_started', item_id: 'b', audio_start_ms: 60 })
          ended('b', 500, 'two.\n')
          socket.send({ type: 'error', error: { type: 'invalid_request_error', code: null, message: 'no model' } })
        },
      })
      socket.send({ type: 'session.created' })
    },
  })
  const provider = made(server.url)
  t.teardown(async () => {
    await provider.close()
    await server.close()
  })
  const listening = await listen(t, provider, given(), never)
  listening.stream.audio(sinePcm(240, 24_000))
  await until(() => isOver(listening), 'a complaint that is one more is a failure')
  t.same(reported(listening), ['speech', [0, 'one.', 100, 900], 'speech', [1, 'two.', 1000, 1440], 'failed'])
  t.match(listening.events.at(-1), { error: { errorClass: 'bad_request', sent: true } })
})

t.test('every model of a Speaches server is listed for live recognition, at any base URL', async (t) => {
  const deps = { limits: outboundDefaults, clock: systemClock, catalog, local: null, ollamaUrl: null }
  const models = { stt: ['a', 'b'], tts: ['kokoro'] }
  const [here, elsewhere, plain] = await createProviders(
    [
      { id: 'here', adapter: 'speaches', models },
      { id: 'elsewhere', adapter: 'speaches', baseUrl: 'http://127.0.0.1:9/v1', models },
      { id: 'plain', adapter: 'openai', baseUrl: 'http://127.0.0.1:9/v1', models },
    ],
    {},
    deps,
  )
  const streaming = (provider: typeof here) =>
    provider?.models.filter(({ stage }) => stage === 'stt').map(({ capabilities }) => capabilities.streaming)
  t.same(
    [streaming(here), streaming(elsewhere), streaming(plain)],
    [
      [true, true],
      [true, true],
      [false, false],
    ],
  )
  t.same(
    [here, elsewhere, plain].map((provider) => provider?.ports.speech?.stt?.open !== undefined),
    [true, true, false],
  )
  for (const provider of [here, elsewhere, plain]) await provider?.close()
})
