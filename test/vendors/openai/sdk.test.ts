/**
 * Drives the SDKs of OpenAI, Groq and Mistral (for speech) against the stub. If they understand the stub, it behaves
 * like the vendors.
 */
import { createRequire } from 'node:module'
import t, { type Test } from 'tap'
import { wavHeader } from '../../../audio/wav.ts'
import { timed, until } from '../suite/given.ts'
import { answerText, callArguments, weather } from '../suite/llm.ts'
import type { Cell, VendorStub } from '../suite/matrix.ts'
import { recordingFormat, recordingPcm } from '../suite/stt.ts'
import { transcriptOf } from '../suite/stub-server.ts'
import { selfSigned } from '../suite/tls.ts'
import { speechPcm } from '../suite/tts.ts'
import { startOpenAiStub } from './stub.ts'
import { chatUsage } from './stub-chat.ts'
import { startSpeachesStub, withoutSilence } from './stub-speaches.ts'
import { billedSeconds, voxtralPcm } from './stub-speech.ts'

/** The parts of the SDKs that this test uses. The SDKs are installed apart from the product. */
type Create<T> = { create(body: object): Promise<T> }
type Chunk = { choices: { delta: { content?: string } }[]; usage?: object | null }
type Completion = {
  choices: { message: { content: string; tool_calls?: { function: { name: string; arguments: string } }[] } }[]
  usage: object
}
type ResponseEvent = { type: string; delta?: string }
type Client = {
  chat: { completions: Create<Completion & AsyncIterable<Chunk>> }
  responses: Create<{ output_text: string; output: { type: string }[] } & AsyncIterable<ResponseEvent>>
  audio: { transcriptions: Create<{ text: string }>; speech: Create<{ arrayBuffer(): Promise<ArrayBuffer> }> }
  models: { list(): Promise<{ data: { id: string }[] }> }
}
type RealtimeEvent = { type: string; transcript?: string; error?: { code?: string } }
type Realtime = {
  socket: { on(event: 'open' | 'close', listener: () => void): void }
  on(event: 'event', listener: (event: RealtimeEvent) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  send(event: object): void
  close(): void
}
type ClientClass = new (options: object) => Client
type ToFile = (bytes: Uint8Array, name: string) => Promise<object>
type SpeechEvent = { data: { type: string; audioData?: string } }
type Transcription = { text: string; segments?: { text: string; speakerId?: string | null }[]; usage: object }
type Mistral = {
  audio: {
    speech: { complete(request: object): Promise<AsyncIterable<SpeechEvent>> }
    transcriptions: { complete(request: object): Promise<Transcription> }
  }
}

const openai = load<{ OpenAI: ClientClass; toFile: ToFile }>('openai')
const realtime = load<{ OpenAIRealtimeWS: new (props: object, client: Client) => Realtime }>('openai/realtime/ws')
const groq = load<{ Groq: ClientClass; toFile: ToFile }>('groq-sdk')
const mistral = load<{ Mistral: new (options: object) => Mistral }>('@mistralai/mistralai')
const missing = (sdk: unknown, name: string) => (sdk ? false : `${name} is not installed: npm ci in test/vendors`)

const stub = await startOpenAiStub()
t.teardown(() => stub.close())
const messages = [{ role: 'user', content: 'Hello' }]
const refused: [Cell, number][] = [
  ['auth', 401],
  ['quota', 429],
  ['rate_limited', 429],
  ['rate_limited_bare', 429],
  ['overloaded', 503],
  ['server', 500],
  ['bad_request', 400],
]
const tools = [{ type: 'function', function: weather }]

t.test("the SDK openai understands the stub's answers", { skip: missing(openai, 'openai') }, async (t) => {
  const { OpenAI, toFile } = present(openai)
  const client = new OpenAI({ apiKey: 'key', baseURL: `${stub.url}/v1`, maxRetries: 0 })
  await playChat(t, client)
  await playResponses(t, client)
  await playAudio(t, client, toFile, 'tts-1')
  stub.behave('ok')
  t.match((await client.models.list()).data, [{ id: 'stub' }])
  t.match(stub.seen, [{ method: 'GET', path: '/v1/models' }])
})

t.test("the SDK groq-sdk understands the stub's answers", { skip: missing(groq, 'groq-sdk') }, async (t) => {
  const { Groq, toFile } = present(groq)
  const client = new Groq({ apiKey: 'key', baseURL: stub.url, maxRetries: 0 })
  await playChat(t, client)
  t.equal(stub.seen.at(-1)?.path, '/openai/v1/chat/completions')
  await playAudio(t, client, toFile, 'canopylabs/orpheus-v1-english')
})

t.test('@mistralai/mistralai: speech is received', { skip: missing(mistral, '@mistralai/mistralai') }, async (t) => {
  const client = new (present(mistral).Mistral)({
    apiKey: 'key',
    serverURL: stub.url,
    retryConfig: { strategy: 'none' },
  })
  const request = { model: 'voxtral-mini-tts-2603', input: 'Hello', voiceId: 'en_paul_neutral', responseFormat: 'pcm' }
  const speak = async (cell: Cell) => {
    stub.behave(cell)
    return (await timed(await client.audio.speech.complete({ ...request, stream: true }))).items
  }
  for (const cell of ['ok', 'slow_first_byte', 'half_sample'] as const) {
    const events = await speak(cell)
    const audio = events.map(({ data }) => Buffer.from(data.audioData ?? '', 'base64'))
    t.ok(Buffer.concat(audio).equals(voxtralPcm), cell)
    t.equal(events.at(-1)?.data.type, 'speech.audio.done')
  }
  for (const cell of ['auth', 'rate_limited', 'server', 'reset'] as const) await t.rejects(speak(cell), cell)
})

t.test('@mistralai/mistralai: transcripts are read', { skip: missing(mistral, '@mistralai/mistralai') }, async (t) => {
  const client = new (present(mistral).Mistral)({
    apiKey: 'key',
    serverURL: stub.url,
    retryConfig: { strategy: 'none' },
  })
  const content = Buffer.concat([wavHeader(recordingFormat, recordingPcm.length), recordingPcm])
  const readSpeech = (cell: Cell, more: object) => {
    stub.behave(cell)
    const request = { model: 'voxtral-mini-2602', file: { fileName: 'a.wav', content }, ...more }
    return client.audio.transcriptions.complete(request)
  }
  const text = transcriptOf(recordingPcm)
  for (const cell of ['ok', 'slow_first_byte'] as const) t.match(await readSpeech(cell, { language: 'en' }), { text })
  t.match(
    await readSpeech('ok', { diarize: true, contextBias: ['Parley', 'New_York'], timestampGranularities: ['segment'] }),
    {
      segments: [{ text, speakerId: 'speaker_1' }],
      usage: { promptAudioSeconds: billedSeconds },
    },
  )
  t.match(await readSpeech('ok', { timestampGranularities: ['word'] }), { segments: { length: 2 } })
  for (const more of [{ language: 'en', timestampGranularities: ['word'] }, { contextBias: ['New York'] }])
    t.match(await readSpeech('ok', more).catch((error: unknown) => error), { statusCode: 422 })
  for (const cell of ['auth', 'rate_limited', 'server', 'empty', 'header_only', 'cut', 'reset', 'garbage'] as const)
    await t.rejects(readSpeech(cell, {}), cell)
})

const certificate = realtime ? selfSigned() : null
const noTls = missing(realtime, 'openai') || (certificate ? false : 'the SDK insists on wss, and there is no openssl')

/** Opens a realtime session. Returns all events until the first transcript, or until the socket ends. */
async function converse(secure: VendorStub, cell: Cell, model: string, messages: object[]): Promise<RealtimeEvent[]> {
  secure.behave(cell)
  const client = new (present(openai).OpenAI)({ apiKey: 'key', baseURL: `${secure.url}/v1` })
  const options = { ca: present(certificate).cert }
  const session = new (present(realtime).OpenAIRealtimeWS)({ model, options }, client)
  const events: RealtimeEvent[] = []
  let closed = false
  session.on('event', (event) => events.push(event))
  session.on('error', (error) => events.push({ type: 'failed', transcript: error.message }))
  session.socket.on('close', () => {
    closed = true
  })
  session.socket.on('open', () => {
    for (const message of messages) session.send(message)
  })
  const breaks = ['auth', 'garbage', 'error_mid'].includes(cell)
  const isOver = ({ type }: RealtimeEvent) => type.endsWith('.completed') || (breaks && type === 'failed')
  await until(() => closed || events.some(isOver), cell)
  session.close()
  return events
}
const append = (audio: Buffer) => ({ type: 'input_audio_buffer.append', audio: audio.toString('base64') })
const isCompleted = ({ type }: RealtimeEvent) => type.endsWith('.completed')

t.test('the realtime socket of the SDK openai understands the stub', { skip: noTls }, async (t) => {
  const secure = await startOpenAiStub({ tls: present(certificate) })
  t.teardown(() => secure.close())
  const messages = [
    { type: 'session.update', session: { type: 'transcription' } },
    append(speechPcm),
    { type: 'input_audio_buffer.commit' },
  ]
  const play = (cell: Cell) => converse(secure, cell, 'gpt-4o-transcribe', messages)
  const events = await play('ok')
  t.same(
    events.map(({ type }) => type.replace('conversation.item.input_audio_transcription.', '')),
    [
      'session.created',
      'session.updated',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.committed',
      'delta',
      'delta',
      'completed',
    ],
  )
  t.equal(events.at(-1)?.transcript, transcriptOf(speechPcm))
  for (const cell of ['auth', 'garbage', 'error_mid'] as const)
    t.ok(
      (await play(cell)).some(({ type }) => type === 'failed'),
      cell,
    )
  t.notOk((await play('reset')).some(isCompleted), 'reset')
})

t.test('the realtime socket of the SDK openai understands the Speaches stub', { skip: noTls }, async (t) => {
  const secure = await startSpeachesStub({ tls: present(certificate) })
  t.teardown(() => secure.close())
  const turn_detection = { threshold: 0.9, prefix_padding_ms: 0, silence_duration_ms: 300, create_response: false }
  const update = { type: 'session.update', session: { turn_detection } }
  const messages = [update, append(speechPcm), append(Buffer.alloc(48 * 3000))]
  const play = (cell: Cell) => converse(secure, cell, 'whisper', messages)
  const events = await play('ok')
  t.same(
    events.map(({ type }) => type.split('.').at(-1)),
    ['created', 'error', 'failed', 'updated', 'speech_started', 'speech_stopped', 'committed', 'created', 'completed'],
  )
  t.equal(events.at(-1)?.transcript?.trim(), transcriptOf(withoutSilence(speechPcm)))
  for (const cell of ['auth', 'cut', 'reset'] as const) t.notOk((await play(cell)).some(isCompleted), cell)
})

async function playChat(t: Test, client: Client): Promise<void> {
  stub.behave('ok')
  const whole = await client.chat.completions.create({ model: 'm', messages })
  t.equal(whole.choices[0]?.message.content, answerText)
  t.same(whole.usage, chatUsage)
  const called = await client.chat.completions.create({ model: 'm', messages, tools })
  t.same(called.choices[0]?.message.tool_calls?.[0]?.function, {
    name: 'weather',
    arguments: JSON.stringify(callArguments),
  })
  const stream = (cell: Cell) => {
    stub.behave(cell)
    return client.chat.completions.create({ model: 'm', messages, stream: true }).then(timed<Chunk>)
  }
  const { items } = await stream('ok')
  t.equal(items.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), answerText)
  t.match(items.at(-1)?.usage, chatUsage)
  for (const cell of ['error_mid', 'garbage', 'reset'] as const) await t.rejects(stream(cell), cell)
  for (const [cell, status] of refused) {
    const error: unknown = await stream(cell).catch((error: unknown) => error)
    t.match(error, { status }, cell)
  }
}

async function playResponses(t: Test, client: Client): Promise<void> {
  stub.behave('ok')
  const whole = await client.responses.create({ model: 'm', input: 'Hello' })
  t.equal(whole.output_text, answerText)
  const called = await client.responses.create({
    model: 'm',
    input: 'Hello',
    tools: [{ type: 'function', ...weather }],
  })
  t.match(called.output.at(-1), { type: 'function_call', name: 'weather', arguments: JSON.stringify(callArguments) })
  const stream = (cell: Cell) => {
    stub.behave(cell)
    return client.responses.create({ model: 'm', input: 'Hello', stream: true }).then(timed<ResponseEvent>)
  }
  const { items } = await stream('ok')
  const deltas = items.filter(({ type }) => type === 'response.output_text.delta')
  t.equal(deltas.map(({ delta }) => delta).join(''), answerText)
  t.equal(items.at(-1)?.type, 'response.completed')
  const { items: broken } = await stream('error_mid')
  t.match(broken.at(-1), { type: 'error' }, 'the SDK hands it on')
  for (const cell of ['garbage', 'reset', 'auth', 'overloaded'] as const) await t.rejects(stream(cell), cell)
}

async function playAudio(t: Test, client: Client, toFile: ToFile, voiceModel: string): Promise<void> {
  const file = await toFile(Buffer.concat([wavHeader(recordingFormat, recordingPcm.length), recordingPcm]), 'a.wav')
  const transcribe = (cell: Cell) => {
    stub.behave(cell)
    return client.audio.transcriptions.create({ model: 'whisper-1', file })
  }
  for (const cell of ['ok', 'slow_first_byte'] as const)
    t.equal((await transcribe(cell)).text, transcriptOf(recordingPcm), cell)
  for (const cell of ['auth', 'cut', 'garbage'] as const) await t.rejects(transcribe(cell), cell)
  const speak = async (cell: Cell, format: string) => {
    stub.behave(cell)
    const request = { model: voiceModel, input: 'Hello', voice: 'alloy', response_format: format }
    return Buffer.from(await (await client.audio.speech.create(request)).arrayBuffer())
  }
  const formats = voiceModel === 'tts-1' ? (['pcm', 'wav'] as const) : (['wav'] as const)
  for (const format of formats) {
    const audio = await speak('half_sample', format)
    t.ok(audio.subarray(format === 'wav' ? 44 : 0).equals(speechPcm), format)
  }
  for (const cell of ['quota', 'reset'] as const) await t.rejects(speak(cell, 'wav'), cell)
}

function load<T>(name: string): T | null {
  try {
    return createRequire(import.meta.url)(name) as T
  } catch {
    return null
  }
}

function present<T>(part: T | null): T {
  if (part === null) throw new Error('it was to be skipped')
  return part
}
