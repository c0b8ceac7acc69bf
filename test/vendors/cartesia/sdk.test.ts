/**
 * Runs the vendor's SDK against the stub. If the SDK understands the stub in every test case, the stub behaves like the
 * vendor. For speech the SDK requires wss.
 */
import { createRequire } from 'node:module'
import t from 'tap'
import { until } from '../suite/given.ts'
import type { Cell } from '../suite/matrix.ts'
import { recordingMs, recordingPcm, wavRecording } from '../suite/stt.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { selfSigned } from '../suite/tls.ts'
import { apiKey } from './setup.ts'
import { startCartesiaStub } from './stub.ts'
import { spoken } from './stub-answers.ts'
import { withoutSilence } from './stub-sockets.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Options = { maxRetries: number; timeout: number }
type Frame = {
  type: string
  text?: string
  transcript?: string
  is_final?: boolean
  audio?: Uint8Array
  word_timestamps?: { words: string[]; start: number[]; end: number[] }
}
type Failure = Error & { error?: { error_code: string | null; status_code: number } }
type Listening = {
  on(event: 'event', run: (frame: Frame) => void): void
  on(event: 'error', run: (error: Failure) => void): void
  on(event: 'close', run: (code: number) => void): void
  send(command: unknown): void
  sendRaw(audio: Uint8Array): void
  close(): void
}
type Context = { generate(order: object): AsyncIterable<Frame> }
type Speaking = {
  on(event: 'error', run: (error: Failure) => void): void
  context(order: object): Context
  close(): void
}
type Socket = { websocket(parameters: object): Listening }
type Transcript = { text: string; duration: number; language: string; words?: { word: string; end: number }[] }
type Client = {
  tts: { generate(order: object, options?: Options): Promise<Response>; websocket(options: object): Promise<Speaking> }
  stt: {
    transcribe(order: object, options?: Options): Promise<Transcript>
    manualFinalize: Socket
    autoFinalize: Socket
  }
  voices: { list(query: object, options: Options): Promise<{ data: object[] }> }
}
type Sdk = {
  Cartesia: new (options: object) => Client
  toFile: (bytes: Uint8Array, name: string) => Promise<unknown>
}

const stub = await startCartesiaStub()
t.teardown(() => stub.close())
const sdk = load()
const skip = sdk ? false : '@cartesia/cartesia-js is not installed: npm ci in test/vendors'
const clientOf = (baseURL: string) => new (sdk as Sdk).Cartesia({ apiKey, baseURL })
const once3s: Options = { maxRetries: 0, timeout: 3000 }
const pcm = { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 }
const order = { model_id: 'sonic-3.5', voice: 'voice', output_format: pcm }

const statuses: Partial<Record<Cell, number>> = {
  auth: 401,
  quota: 402,
  rate_limited: 429,
  rate_limited_bare: 429,
  overloaded: 503,
  server: 500,
  bad_request: 400,
}

t.test('the Cartesia SDK receives speech from the stub', { skip }, async (t) => {
  const speak = async (output_format = pcm) => {
    const body = { ...order, output_format, transcript: 'Hello.' }
    return Buffer.from(await (await clientOf(stub.url).tts.generate(body, once3s)).arrayBuffer())
  }
  for (const output of [pcm, { ...pcm, encoding: 'pcm_mulaw', sample_rate: 8000 }])
    t.ok((await speak(output)).equals(spoken(output)), output.encoding)
  for (const [cell, status] of Object.entries(statuses)) {
    stub.behave(cell as Cell)
    const error = await errorOf(speak())
    t.match(error, { status, error: { message: 'What the vendor says to people.' } }, cell)
    t.equal(error.headers.get('retry-after'), cell === 'rate_limited' ? '7' : null)
  }
  for (const cell of ['cut', 'reset'] as const) {
    stub.behave(cell)
    await t.rejects(speak(), cell)
  }
  stub.behave('ok')
  t.match(await errorOf(speak({ ...pcm, sample_rate: 11_025 })), { status: 400 }, 'a rate that the vendor has not')
})

t.test('the Cartesia SDK transcribes a recording from the stub', { skip }, async (t) => {
  const wav = Buffer.concat(wavRecording(recordingPcm).chunks)
  const transcribe = async (more: object = {}) => {
    const file = await (sdk as Sdk).toFile(wav, 'audio.wav')
    return clientOf(stub.url).stt.transcribe({ file, model: 'ink-whisper', language: 'de', ...more }, once3s)
  }
  stub.behave('ok')
  const transcript = await transcribe({ timestamp_granularities: ['word'] })
  t.match(transcript, { text: transcriptOf(recordingPcm), language: 'de', duration: recordingMs / 1000 })
  t.equal(transcript.words?.map(({ word }) => word).join(' '), transcriptOf(recordingPcm))
  t.notOk('words' in (await transcribe()))
  for (const [cell, status] of Object.entries(statuses)) {
    stub.behave(cell as Cell)
    t.match(await errorOf(transcribe()), { status }, cell)
  }
  for (const cell of ['cut', 'reset', 'garbage'] as const) {
    stub.behave(cell)
    await t.rejects(transcribe(), cell)
  }
})

const tls = selfSigned()
const noTls = skip || (tls ? false : 'there is no openssl to make a certificate with')

t.test('the Cartesia SDK receives speech over the socket of the stub', { skip: noTls }, async (t) => {
  const secure = await startCartesiaStub(tls ?? undefined)
  t.teardown(() => secure.close())
  const connect = async () => {
    const socket = await clientOf(secure.url).tts.websocket({ ca: tls?.cert })
    const failures: Failure[] = []
    socket.on('error', (error) => failures.push(error))
    t.teardown(() => socket.close())
    return { socket, failures }
  }
  const words: unknown[] = []
  const speak = async (socket: Speaking) => {
    const chunks: Uint8Array[] = []
    const wanted = { transcript: 'Hello.', continue: false, add_timestamps: true }
    for await (const frame of socket.context(order).generate(wanted)) {
      if (frame.type === 'chunk') chunks.push(frame.audio ?? new Uint8Array(0))
      if (frame.word_timestamps?.words.length === 1) words.push(frame.word_timestamps)
    }
    return Buffer.concat(chunks)
  }
  const { socket } = await connect()
  for (const cell of ['ok', 'half_sample', 'slow_first_byte'] as const) {
    secure.behave(cell)
    const again = cell === 'ok' ? socket : (await connect()).socket
    for (const audio of await Promise.all([speak(again), speak(again)])) t.ok(audio.equals(spoken(pcm)), cell)
  }
  t.same(words, Array(6).fill({ words: ['Hello.'], start: [0], end: [0.06] }))
  for (const cell of ['quota', 'rate_limited_bare', 'overloaded', 'server', 'bad_request'] as const) {
    secure.behave(cell)
    const { socket, failures } = await connect()
    const { message } = await errorOf(speak(socket))
    t.match(JSON.parse(message), { type: 'error', status_code: statuses[cell], message: String }, cell)
    t.match(failures, [{ error: { status_code: statuses[cell] } }])
  }
  secure.behave('error_mid')
  t.match(JSON.parse((await errorOf(speak((await connect()).socket))).message), { status_code: 503 })
  // In this part of the SDK a refused upgrade is an unhandled rejection. The other sockets test refusals.
})

t.test("the Cartesia SDK understands the stub's live recognition", { skip }, async (t) => {
  const [first, second] = [sinePcm(4000, 16_000), sinePcm(3200, 16_000)]
  const text = (samples: Buffer) => transcriptOf(withoutSilence(samples))
  const listen = (cell: Cell, kind: 'manualFinalize' | 'autoFinalize', model: string) => {
    stub.behave(cell)
    const socket = clientOf(stub.url).stt[kind].websocket({ model, encoding: 'pcm_s16le', sample_rate: 16_000 })
    const frames: Frame[] = []
    const failures: Failure[] = []
    const closes: number[] = []
    socket.on('event', (frame) => frames.push(frame))
    socket.on('error', (error) => failures.push(error))
    socket.on('close', (code) => closes.push(code))
    const untilFrame = (type: string) => until(() => frames.some((frame) => frame.type === type), `no ${type}`)
    return { socket, frames, failures, closes, untilFrame }
  }

  await t.test('the Cartesia SDK receives two utterances', async (t) => {
    const { socket, frames, closes, untilFrame } = listen('ok', 'manualFinalize', 'ink-whisper')
    socket.sendRaw(first)
    socket.send('finalize')
    await untilFrame('flush_done')
    socket.sendRaw(second)
    socket.send('close')
    await until(() => closes.length > 0, 'not closed')
    const finals = frames.filter(({ type, is_final }) => type === 'transcript' && is_final)
    t.equal(finals.map((frame) => frame.text).join(''), `${text(first)}${text(second)}`)
    t.ok(frames.some(({ type, is_final }) => type === 'transcript' && is_final === false))
    t.equal(frames.at(-1)?.type, 'done')
  })

  await t.test('the Cartesia SDK receives two turns', async (t) => {
    const { socket, frames, closes, untilFrame } = listen('ok', 'autoFinalize', 'ink-2')
    await untilFrame('connected')
    socket.sendRaw(first)
    socket.send({ type: 'config', turn: { end_timeout_ms: 640 } })
    socket.sendRaw(Buffer.alloc(25_600))
    await untilFrame('turn.end')
    socket.sendRaw(second)
    socket.send({ type: 'close' })
    await until(() => closes.length > 0, 'not closed')
    t.same(closes, [1000])
    const turn = ['turn.start', 'turn.update', 'turn.update', 'turn.eager_end', 'turn.end']
    t.same(
      frames.map(({ type }) => type),
      ['connected', ...turn, ...turn],
    )
    t.same(
      frames.filter(({ type }) => type === 'turn.end').map(({ transcript }) => transcript),
      [text(first), text(second)],
    )
  })

  await t.test('the Cartesia SDK reports refused and broken sessions', async (t) => {
    for (const [kind, model] of [
      ['manualFinalize', 'ink-whisper'],
      ['autoFinalize', 'ink-2'],
    ] as const) {
      for (const cell of ['quota', 'rate_limited_bare', 'overloaded', 'server', 'bad_request'] as const) {
        const { socket, failures } = listen(cell, kind, model)
        await until(() => failures.length > 0, 'no error')
        t.match(failures, [{ error: { type: 'error', status_code: statuses[cell] } }], cell)
        socket.close()
      }
      for (const [cell, status] of [
        ['auth', 401],
        ['rate_limited', 429],
      ] as const) {
        const { failures } = listen(cell, kind, model)
        await until(() => failures.length > 0, 'no error')
        t.match(failures[0]?.message, new RegExp(String(status)), cell)
      }
      const broken = listen('error_mid', kind, model)
      broken.socket.sendRaw(first)
      await until(() => broken.failures.length > 0, 'no error')
      t.match(broken.failures, [{ error: { status_code: 503 } }])
      broken.socket.close()
      const empty = listen('empty', kind, model)
      empty.socket.sendRaw(first)
      await until(() => empty.closes.length > 0, 'not closed')
      t.same(empty.closes, [1000])
    }
  })
})

t.test("the Cartesia SDK gets the stub's list of voices", { skip }, async (t) => {
  stub.behave('ok')
  const list = () => clientOf(stub.url).voices.list({ limit: 1 }, once3s)
  t.same((await list()).data, [])
  t.match(stub.seen, [{ method: 'GET', path: '/voices?limit=1' }])
  stub.behave('auth')
  t.equal((await errorOf(list())).status, 401)
})

type SdkError = Error & { status?: number; headers: Headers }
const errorOf = (work: Promise<unknown>): Promise<SdkError> =>
  work.then(
    () => {
      throw new Error('it succeeded')
    },
    (error: unknown) => (error instanceof Error ? error : (error as { error: Error }).error) as SdkError,
  )

function load(): Sdk | null {
  try {
    return createRequire(import.meta.url)('@cartesia/cartesia-js') as Sdk
  } catch {
    return null
  }
}
