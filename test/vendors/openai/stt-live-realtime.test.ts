import t, { type Test } from 'tap'
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'
import type { StreamAudio, SttStreamRequest } from '../../../domain/ports/stt.ts'
import { createOpenAiProvider } from '../../../providers/openai/provider.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { catalog, failureOf, never, patient, until } from '../suite/given.ts'
import { finalsOf, isOver, type Listening, listen, type SttStreamGiven, send } from '../suite/stt-live.ts'
import { type StubSocket, sinePcm, startStub, transcriptOf } from '../suite/stub-server.ts'
import { startOpenAiStub } from './stub.ts'

const model = 'gpt-4o-transcribe'
const stub = await startOpenAiStub()
const pcm24: StreamAudio = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
const made = (url: string) =>
  createOpenAiProvider({
    id: 'openai',
    baseUrl: `${url}/v1`,
    apiKey: 'sk-canary',
    models: { stt: ['whisper-1', model] },
    catalog,
    maxTokensField: null,
    asksForUsage: true,
    keyCheck: '/models',
    keyCheckNeedsKey: true,
    realtime: { models: [model], rules: 'openai' },
    limits: patient,
    unavailable: null,
    clock: systemClock,
  })
const provider = made(stub.url)
t.teardown(async () => {
  await provider.close()
  await stub.close()
})
const given = (audio: StreamAudio): SttStreamGiven => ({
  provider: () => provider,
  stub,
  model,
  apiKey: 'sk-canary',
  audio,
})
const open = (t: Test, audio: StreamAudio, changes: Partial<SttStreamRequest> = {}) => {
  stub.behave('ok')
  return listen(t, provider, given(audio), never, changes)
}

t.test('the catalog lists live recognition only for OpenAI models that support live recognition', (t) => {
  t.same(
    provider.models.map(({ id, capabilities }) => [id, capabilities.streaming, capabilities.batch]),
    [
      ['whisper-1', false, true],
      [model, true, true],
    ],
  )
  t.end()
})

t.test('a realtime session of OpenAI is configured with its options', async (t) => {
  const listening = await open(t, pcm24, { language: 'de-AT', prompt: 'Speisekarte', endpointingMs: 300 })
  listening.stream.flush()
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  t.match(stub.seen[0], {
    path: '/v1/realtime?intent=transcription',
    headers: { authorization: 'Bearer sk-canary' },
  })
  const input = {
    format: { type: 'audio/pcm', rate: 24_000 },
    transcription: { model, language: 'de', prompt: 'Speisekarte' },
    turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
  }
  t.same(
    stub.seen[0]?.texts.map((text) => JSON.parse(text) as unknown),
    [
      { type: 'session.update', session: { type: 'transcription', audio: { input } } },
      { type: 'input_audio_buffer.commit' },
      { type: 'input_audio_buffer.commit' },
      { type: 'input_audio_buffer.clear' },
    ],
  )
})

t.test('telephone audio is sent to OpenAI unchanged', async (t) => {
  for (const encoding of ['mulaw', 'alaw'] as const) {
    const audio = { encoding, sampleRateHz: 8000, channels: 1 }
    const listening = await open(t, audio)
    const said = sinePcm(1200, 8000)
    send(listening, said, given(audio))
    listening.stream.end()
    await until(() => isOver(listening), 'it does not end')
    t.equal(finalsOf(listening.events, 0)[0]?.text, transcriptOf(said), encoding)
    t.equal(finalsOf(listening.events, 0)[0]?.endMs, 300, 'milliseconds of what came in')
    t.match(JSON.parse(stub.seen[0]?.texts[0] ?? ''), {
      session: { audio: { input: { format: { type: encoding === 'mulaw' ? 'audio/pcmu' : 'audio/pcma' } } } },
    })
  }
})

t.test('audio that is not telephone audio is converted to the format of the OpenAI session', async (t) => {
  const stereo = Buffer.alloc(4800 * 4)
  const mono = sinePcm(4800, 48_000)
  for (let i = 0; i < 4800; i++) for (const at of [0, 2]) stereo.writeInt16LE(mono.readInt16LE(i * 2), i * 4 + at)
  const rows: [StreamAudio, Buffer][] = [
    [{ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, sinePcm(1600, 16_000)],
    [{ encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 }, sinePcm(800, 8000)],
    [{ encoding: 'pcm_s16le', sampleRateHz: 48_000, channels: 2 }, stereo],
    [{ encoding: 'mulaw', sampleRateHz: 24_000, channels: 1 }, Buffer.alloc(2400, 0x2a)],
  ]
  for (const [audio, said] of rows) {
    const listening = await open(t, audio)
    send(listening, said, given(audio))
    listening.stream.end()
    await until(() => isOver(listening), 'it does not end')
    t.equal(stub.seen[0]?.audio.length, 4800, `100 ms of ${audio.sampleRateHz} Hz are 100 ms`)
    t.equal(finalsOf(listening.events, 0)[0]?.endMs, 100)
    listening.stream.close()
  }
  stub.behave('ok')
  const error = await failureOf(t, given(pcm24), open(t, { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }))
  t.match({ ...error }, { errorClass: 'unsupported', sent: false })
  t.same(stub.seen, [])
})

/** Opens a session with a server whose events the test sends. `play` is called for each message of the client. */
async function scripted(t: Test, play: (say: (event: object) => void, type: string, socket: StubSocket) => void) {
  const server = await startStub({
    socket: (socket) =>
      socket.listen({ text: (text) => play((event) => socket.send(event), (JSON.parse(text) as Typed).type, socket) }),
  })
  const own = made(server.url)
  t.teardown(async () => {
    await own.close()
    await server.close()
  })
  return listen(t, own, given(pcm24), never)
}
type Typed = { type: string }
const transcription = 'conversation.item.input_audio_transcription'
const tokens = { type: 'tokens', input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const completed = (item_id: string, transcript: string) => ({
  type: `${transcription}.completed`,
  item_id,
  transcript,
  usage: tokens,
})
const delta = (item_id: string, text: string) => ({ type: `${transcription}.delta`, item_id, delta: text })
const committed = (item_id: string) => ({ type: 'input_audio_buffer.committed', item_id })
const reported = ({ events }: Listening) =>
  events.map((event) =>
    event.type === 'transcript'
      ? `${event.transcript.utterance} ${event.transcript.isFinal ? 'final' : 'partial'} ${event.transcript.text}`
      : event.type,
  )

t.test('utterances are reported in order, even if their transcripts come in another order', async (t) => {
  const listening = await scripted(t, (say, type) => {
    if (type === 'session.update') say({ type: 'session.updated' })
    if (type !== 'input_audio_buffer.append') {
      if (type === 'input_audio_buffer.clear') say({ type: 'input_audio_buffer.cleared' })
      return
    }
    say({ type: 'input_audio_buffer.speech_started', item_id: 'a', audio_start_ms: 100 })
    say({ type: 'input_audio_buffer.speech_stopped', item_id: 'a', audio_end_ms: 900 })
    say(committed('a'))
    say(committed('silence'))
    say({ type: 'input_audio_buffer.speech_started', item_id: 'b', audio_start_ms: 1400 })
    say({ type: 'input_audio_buffer.speech_stopped', item_id: 'b', audio_end_ms: 2000 })
    say(committed('b'))
    say(delta('b', 'two'))
    say(completed('b', 'two.'))
    say(delta('a', 'one'))
    say(completed('silence', ' '))
    say(completed('a', 'one.'))
    say(committed('c'))
    say(delta('c', 'thr'))
    say({ type: 'something.new' })
  })
  listening.stream.audio(sinePcm(2400, 24_000))
  await until(() => reported(listening).length === 6, 'something is missing')
  t.same(reported(listening), ['speech', 'speech', '0 partial one', '0 final one.', '1 final two.', '2 partial thr'])
  t.match(finalsOf(listening.events, 0)[0], { startMs: 100, endMs: 900, speechFinal: true })
  t.match(finalsOf(listening.events, 1)[0], { startMs: 1400, endMs: 2000 })
  listening.stream.close()
})

t.test('a session ends only after its missing transcripts, but does not wait for other events', async (t) => {
  let speak: (event: object) => void = () => {}
  const listening = await scripted(t, (say, type) => {
    speak = say
    if (type === 'session.update') say({ type: 'session.updated' })
    if (type === 'input_audio_buffer.append') {
      say({ type: 'input_audio_buffer.speech_started', item_id: 'a', audio_start_ms: 0 })
      say(committed('a'))
      say({ type: 'input_audio_buffer.speech_started', item_id: 'never committed', audio_start_ms: 90 })
    }
    if (type === 'input_audio_buffer.commit')
      say({ type: 'error', error: { type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty' } })
    if (type === 'input_audio_buffer.clear') say({ type: 'input_audio_buffer.cleared' })
  })
  listening.stream.audio(sinePcm(2400, 24_000))
  listening.stream.end()
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.same(reported(listening), ['speech', 'speech'])
  speak(completed('a', 'one.'))
  await until(() => isOver(listening), 'it does not end')
  t.same(reported(listening), ['speech', 'speech', '0 final one.', 'ended'])
  t.match(listening.events.at(-1), { billedMs: undefined }, 'tokens are no time')
})

t.test('each way in which an OpenAI session breaks has its error class', async (t) => {
  const error = (code: string, type = 'server_error') => ({ type: 'error', error: { type, code, message: 'no' } })
  const rows: [(say: (event: object) => void, socket: StubSocket) => void, ErrorClass][] = [
    [(say) => say(error('server_is_overloaded')), 'overloaded'],
    [(say) => say(error('rate_limit_exceeded')), 'rate_limited'],
    [(say) => say(error('insufficient_quota')), 'quota'],
    [(say) => say({ ...error(''), type: `${transcription}.failed`, item_id: 'a' }), 'server'],
    [(say) => say({ type: `${transcription}.completed`, item_id: 'a' }), 'protocol'],
    [(say) => say([]), 'protocol'],
    [(_, socket) => socket.send(Buffer.from('bytes')), 'protocol'],
    [(_, socket) => socket.close(1011), 'server'],
    [(_, socket) => socket.close(1013), 'overloaded'],
    [(_, socket) => socket.close(4000, 'why'), 'protocol'],
  ]
  for (const [breaks, expected] of rows) {
    const listening = await scripted(t, (say, type, socket) => {
      if (type === 'session.update') say({ type: 'session.updated' })
      if (type === 'input_audio_buffer.append') breaks(say, socket)
    })
    listening.stream.audio(sinePcm(240, 24_000))
    await until(() => isOver(listening), expected)
    t.match(listening.events, [{ type: 'failed', error: { errorClass: expected, sent: true } }], breaks.toString())
    listening.stream.audio(sinePcm(240, 24_000))
    listening.stream.close()
  }
  const refused = scripted(t, (say) => say(error('invalid_model', 'invalid_request_error')))
  t.match({ ...(await failureOf(t, given(pcm24), refused)) }, { errorClass: 'bad_request' })
})

t.test('a stream that is closed while a transcript is reported reports no further transcript', async (t) => {
  const listening = await scripted(t, (say, type) => {
    if (type === 'session.update') say({ type: 'session.updated' })
    if (type !== 'input_audio_buffer.append') return
    for (const id of ['a', 'b']) say(committed(id))
    say(completed('b', 'two.'))
    say(completed('a', 'one.'))
  })
  const push = listening.events.push.bind(listening.events)
  listening.events.push = (...events) => {
    listening.stream.close()
    return push(...events)
  }
  listening.stream.audio(sinePcm(240, 24_000))
  await until(() => listening.events.length > 0, 'no event came')
  await new Promise((resolve) => setTimeout(resolve, 30))
  t.same(reported(listening), ['0 final one.'])
})
