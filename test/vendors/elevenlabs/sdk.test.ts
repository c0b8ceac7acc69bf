/**
 * Runs the vendor's SDK against the stub. If the SDK understands the stub in every test case, the stub behaves like the
 * vendor.
 */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import t from 'tap'
import { WebSocket } from 'ws'
import type { Cell } from '../suite/matrix.ts'
import { recordingPcm } from '../suite/stt.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { apiKey } from './setup.ts'
import { spoken, startElevenLabsStub } from './stub.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Options = { maxRetries: number; timeoutInSeconds: number }
type Transcript = {
  text: string
  languageCode: string
  words: { text: string; type: string }[]
  audioDurationSecs: number
}
type Connection = {
  on(event: string, listener: (data: Record<string, unknown>) => void): void
  send(chunk: { audioBase64: string }): void
  commit(): void
  close(): void
}
type Client = {
  textToSpeech: { stream(voice: string, body: object, options?: Options): Promise<AsyncIterable<Uint8Array>> }
  speechToText: {
    convert(body: object, options?: Options): Promise<Transcript>
    realtime: { connect(options: object): Promise<Connection> }
  }
  user: { get(options: Options): Promise<object> }
}
type Constructor = new (options: { apiKey: string; baseUrl: string }) => Client
type Schema = { parse(value: unknown, options: object): { ok: boolean; value: Record<string, unknown> } }
type Sdk = { client: Client; receiveMessage: Schema }

const stub = await startElevenLabsStub()
t.teardown(() => stub.close())
const sdk = load()
const skip = sdk ? false : '@elevenlabs/elevenlabs-js is not installed: npm ci in test/vendors'
const client = () => (sdk as Sdk).client
const once3s: Options = { maxRetries: 0, timeoutInSeconds: 3 }
const wav = { data: recordingPcm, filename: 'audio.pcm' }

/** The SDK leaves unknown fields of an answer as they are. */
const lenient = { unrecognizedObjectKeys: 'passthrough' }

/** The SDK's error for the vendor's status. On the socket the error comes in a message. */
const statuses: Partial<Record<Cell, number>> = {
  auth: 401,
  quota: 401,
  rate_limited: 429,
  rate_limited_bare: 429,
  overloaded: 429,
  server: 500,
  bad_request: 422,
}

t.test('the ElevenLabs SDK receives speech from the stub', { skip }, async (t) => {
  for (const format of ['pcm_24000', 'ulaw_8000', 'opus_48000_64']) {
    stub.behave('ok')
    t.ok((await speak(format)).equals(spoken(format)), format)
  }
  t.equal(stub.seen[0]?.headers['xi-api-key'], apiKey)
  for (const [cell, statusCode] of Object.entries(statuses)) {
    stub.behave(cell as Cell)
    t.equal(await statusOf(speak('pcm_24000')), statusCode, cell)
  }
  for (const cell of ['cut', 'reset'] as const) {
    stub.behave(cell)
    await t.rejects(speak('pcm_24000'), cell)
  }
})

t.test('the speech socket of the stub sends the frames of ElevenLabs', { skip }, async (t) => {
  stub.behave('ok')
  const socket = new WebSocket(
    `${stub.url.replace('http', 'ws')}/v1/text-to-speech/v/stream-input?output_format=pcm_24000&sync_alignment=true`,
  )
  const frames: unknown[] = []
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())))
  await once(socket, 'open')
  for (const text of [' ', 'Hello. ', '']) socket.send(JSON.stringify({ text }))
  await once(socket, 'close')
  const audio: Buffer[] = []
  const characters: string[] = []
  for (const frame of frames) {
    const read = (sdk as Sdk).receiveMessage.parse(frame, lenient)
    t.ok(read.ok, 'a frame is one that the SDK knows')
    if (typeof read.value['audio'] === 'string') audio.push(Buffer.from(read.value['audio'], 'base64'))
    const { chars = [], charStartTimesMs = [] } = (read.value['alignment'] ?? {}) as Record<string, string[]>
    characters.push(...chars)
    t.equal(charStartTimesMs.length, chars.length)
  }
  t.equal(characters.join(''), ' Hello. ')
  t.ok(Buffer.concat(audio).equals(spoken('pcm_24000')))
})

t.test('the ElevenLabs SDK transcribes a recording from the stub', { skip }, async (t) => {
  stub.behave('ok')
  const transcript = await client().speechToText.convert({
    file: wav,
    modelId: 'scribe_v2',
    diarize: true,
    keyterms: ['Parley'],
  })
  t.equal(transcript.text, transcriptOf(recordingPcm))
  t.equal(transcript.words.map(({ text }) => text).join(''), transcript.text)
  t.same([transcript.languageCode, transcript.audioDurationSecs], ['eng', 0.25])
  for (const [cell, statusCode] of Object.entries(statuses)) {
    stub.behave(cell as Cell)
    const transcript = client().speechToText.convert({ file: wav, modelId: 'scribe_v2' }, once3s)
    t.equal(await statusOf(transcript), statusCode, cell)
  }
})

t.test('the ElevenLabs SDK understands a realtime session of the stub', { skip }, async (t) => {
  stub.behave('ok')
  const samples = sinePcm(8000, 16_000)
  const { connection, next } = await connect()
  await next('session_started')
  connection.send({ audioBase64: samples.toString('base64') })
  t.match(await next('partial_transcript'), { text: 'heard' })
  connection.commit()
  t.match(await next('committed_transcript'), { text: transcriptOf(samples) })
  t.match(await next('committed_transcript_with_timestamps'), { text: transcriptOf(samples), language_code: 'eng' })
  connection.commit()
  await next('commit_throttled')
  connection.close()
  const failures = {
    auth: 'auth_error',
    quota: 'quota_exceeded',
    rate_limited_bare: 'rate_limited',
    overloaded: 'queue_overflow',
    server: 'transcriber_error',
    bad_request: 'invalid_request',
  }
  for (const [cell, event] of Object.entries(failures)) {
    stub.behave(cell as Cell)
    const { connection, next } = await connect()
    t.match(await next(event), { message_type: event }, cell)
    connection.close()
  }
})

t.test("the ElevenLabs SDK gets the stub's account", { skip }, async (t) => {
  stub.behave('ok')
  t.match(await client().user.get(once3s), { userId: 'stub' })
  t.match(stub.seen, [{ method: 'GET', path: '/v1/user' }])
  stub.behave('auth')
  t.equal(await statusOf(client().user.get(once3s)), 401)
})

async function speak(outputFormat: string): Promise<Buffer> {
  const body = { text: 'Hello.', modelId: 'eleven_flash_v2_5', outputFormat }
  const chunks: Uint8Array[] = []
  for await (const chunk of await client().textToSpeech.stream('voice', body, once3s)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const statusOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 200,
    (error: { statusCode?: unknown }) => error.statusCode,
  )

/** Opens a realtime session. It keeps all events, because an event may come before the test waits for it. */
async function connect() {
  const connection = await client().speechToText.realtime.connect({
    modelId: 'scribe_v2_realtime',
    audioFormat: 'pcm_16000',
    sampleRate: 16_000,
    commitStrategy: 'vad',
    includeTimestamps: true,
  })
  const reported: Record<string, unknown>[] = []
  for (const event of [
    'session_started',
    'partial_transcript',
    'committed_transcript',
    'committed_transcript_with_timestamps',
    'error',
  ])
    connection.on(event, (data) => reported.push(data))
  const next = async (type: string) => {
    const endMs = performance.now() + 5000
    for (;;) {
      const found = reported.find(({ message_type }) => message_type === type)
      if (found) return found
      if (performance.now() > endMs) throw new Error(`${type} did not come`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return { connection, next }
}

function load(): Sdk | null {
  const require = createRequire(import.meta.url)
  const frames =
    '@elevenlabs/elevenlabs-js/serialization/resources/v1TextToSpeechVoiceIdStreamInput/types/ReceiveMessage'
  try {
    const { ElevenLabsClient } = require('@elevenlabs/elevenlabs-js') as { ElevenLabsClient: Constructor }
    const { ReceiveMessage } = require(frames) as { ReceiveMessage: Schema }
    return { client: new ElevenLabsClient({ apiKey, baseUrl: stub.url }), receiveMessage: ReceiveMessage }
  } catch {
    return null
  }
}
