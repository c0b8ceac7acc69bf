/**
 * Drives the vendor's SDKs against the stub. If they understand the stub, it behaves like the vendor. The SDK for
 * recognition is made for browsers, so the test gives it a recorder.
 */
import { createRequire } from 'node:module'
import t from 'tap'
import { WebSocket } from 'ws'
import { timed, until } from '../suite/given.ts'
import type { Cell } from '../suite/matrix.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { startSonioxStub } from './stub.ts'
import { spoken } from './stub-speech.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Result = { tokens: { text: string; is_final: boolean }[]; finished?: boolean }
type Client = { start(options: object): Promise<void>; stop(): void; finalize(): void; readonly state: string }
type Sdk = { SonioxClient: new (options: object) => Client }
type Failure = { status: string; code: number | undefined }
type SpeechStream = AsyncIterable<Uint8Array> & {
  sendText(text: string, options: { end: boolean }): void
  close(): void
}
type Speaker = {
  realtime: { tts(options: object): Promise<SpeechStream> }
  models: { list(): Promise<object[]> }
}
type SpeechSdk = { SonioxNodeClient: new (options: object) => Speaker }

class Recorder extends EventTarget {
  static latest: Recorder | null = null
  readonly stream = { getTracks: () => [] }

  constructor() {
    super()
    Recorder.latest = this
  }

  start(): void {}
  stop(): void {}

  say(audio: Buffer): void {
    const data = { arrayBuffer: () => Promise.resolve(audio) }
    this.dispatchEvent(Object.assign(new Event('dataavailable'), { data }))
  }
}

// The SDKs look for a browser when they load.
Object.assign(globalThis, { window: { WebSocket }, WebSocket, MediaRecorder: Recorder })
Object.defineProperty(globalThis, 'navigator', { value: { mediaDevices: { getUserMedia() {} } }, configurable: true })
const sdk = load<Sdk>('@soniox/speech-to-text-web')
const skip = missing(sdk, '@soniox/speech-to-text-web')
const speechSdk = load<SpeechSdk>('@soniox/node')

void t.test("the Soniox SDK understands the stub's live recognition", { skip }, async (t) => {
  const stub = await startSonioxStub()
  t.teardown(() => stub.close())
  const [first, second] = [sinePcm(4000, 16_000), sinePcm(3200, 16_000)]

  const listen = async (cell: Cell) => {
    stub.behave(cell)
    const results: Result[] = []
    const failures: Failure[] = []
    const client = new (present(sdk).SonioxClient)({
      apiKey: 'key',
      webSocketUri: `${stub.url.replace('http', 'ws')}/transcribe-websocket`,
      onPartialResult: (result: Result) => results.push(result),
      onError: (status: string, _message: string, code?: number) => failures.push({ status, code }),
    })
    const options = { model: 'stt-rt-v5', audioFormat: 'pcm_s16le', sampleRate: 16_000, numChannels: 1 }
    await client.start({ ...options, stream: { clone: () => ({}) }, enableEndpointDetection: true })
    await until(() => client.state !== 'OpeningWebSocket', 'not open')
    return { client, results, failures, say: (audio: Buffer) => Recorder.latest?.say(audio) }
  }

  await t.test('the Soniox SDK receives two utterances', async (t) => {
    const { client, results, say } = await listen('ok')
    say(first)
    // The recorder passes its data on one tick later.
    await until(() => results.length === 1, 'no result came')
    client.finalize()
    await until(() => results.some(({ tokens }) => tokens.at(-1)?.text === '<fin>'), 'not finalized')
    say(second)
    await until(() => results.length === 3, 'no further result came')
    client.stop()
    await until(() => client.state === 'Finished', 'not finished')
    const finals = results.flatMap(({ tokens }) => tokens.filter(({ is_final }) => is_final))
    t.equal(finals.map(({ text }) => text).join(''), `${transcriptOf(first)}<fin>${transcriptOf(second)}`)
    t.ok(results.some(({ tokens }) => tokens.some(({ is_final }) => !is_final)))
    t.equal(results.at(-1)?.finished, true)
  })

  await t.test('the Soniox SDK receives the error of a refused session', async (t) => {
    const codes = { auth: 401, quota: 402, rate_limited_bare: 429, overloaded: 503, server: 500, bad_request: 400 }
    for (const [cell, code] of Object.entries(codes)) {
      const { failures } = await listen(cell as Cell)
      await until(() => failures.length > 0, 'no error')
      t.same(failures, [{ status: 'api_error', code }], cell)
    }
    t.same((await listen('rate_limited')).failures, [{ status: 'websocket_error', code: undefined }])
  })

  await t.test('the Soniox SDK reports a session that breaks in the middle', async (t) => {
    const { failures, say } = await listen('error_mid')
    say(first)
    await until(() => failures.length > 0, 'no error')
    t.same(failures, [{ status: 'api_error', code: 503 }])
  })
})

void t.test('the Soniox SDK receives speech from the stub', { skip: missing(speechSdk, '@soniox/node') }, async (t) => {
  const stub = await startSonioxStub()
  t.teardown(() => stub.close())
  const { SonioxNodeClient } = present(speechSdk)
  const client = new SonioxNodeClient({
    api_key: 'key',
    base_url: stub.url,
    realtime: { tts_ws_url: `${stub.url.replace('http', 'ws')}/tts-websocket` },
  })
  const form = { audio_format: 'pcm_s16le', sample_rate: 24_000 }
  const speak = async (cell: Cell) => {
    stub.behave(cell)
    const stream = await client.realtime.tts({ model: 'tts-rt-v2', voice: 'Adrian', language: 'en', ...form })
    try {
      stream.sendText('Hello ', { end: false })
      stream.sendText('there.', { end: true })
      return Buffer.concat((await timed(stream)).items)
    } finally {
      stream.close()
    }
  }
  for (const cell of ['ok', 'slow_first_byte', 'half_sample'] as const)
    t.ok((await speak(cell)).equals(spoken(form)), cell)
  for (const cell of ['empty', 'header_only'] as const) t.equal((await speak(cell)).length, 0, cell)
  const codes = { auth: 401, quota: 402, rate_limited_bare: 429, overloaded: 503, server: 500, bad_request: 400 }
  for (const [cell, code] of Object.entries({ ...codes, error_mid: 503 })) {
    const error: unknown = await speak(cell as Cell).catch((error: unknown) => error)
    t.match(error, { statusCode: code }, cell)
  }
  await t.rejects(speak('rate_limited'), 'before the upgrade')
  stub.behave('ok')
  t.same(await client.models.list(), [])
  t.match(stub.seen, [{ method: 'GET', path: '/v1/models' }])
})

function load<T>(name: string): T | null {
  try {
    return createRequire(import.meta.url)(name) as T
  } catch {
    return null
  }
}

function missing(sdk: unknown, name: string): string | false {
  return sdk ? false : `${name} is not installed: npm ci in test/vendors`
}

function present<T>(sdk: T | null): T {
  if (sdk === null) throw new Error('the SDK is not installed')
  return sdk
}
