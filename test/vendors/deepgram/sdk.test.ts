/** Drives the vendor's SDK against the stub. If the SDK understands the stub, the stub behaves like the vendor. */
import { createRequire } from 'node:module'
import t from 'tap'
import type { Cell } from '../suite/matrix.ts'
import { recordingPcm } from '../suite/stt.ts'
import { samplesOf, sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { speechPcm } from '../suite/tts.ts'
import { startDeepgramStub } from './stub.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Frame = {
  type: string
  event?: string
  transcript?: string
  is_final?: boolean
  duration?: number
  code?: string
  channel?: { alternatives: { transcript: string }[] }
}
type Socket = {
  on(event: 'message', run: (frame: Frame | Blob | ArrayBuffer) => void): void
  on(event: 'close', run: (event: { code: number; reason: string }) => void): void
  on(event: 'error', run: (error: Error) => void): void
  connect(): void
  waitForOpen(): Promise<unknown>
  close(): void
  sendMedia(audio: Uint8Array): void
  sendFinalize(message: object): void
  sendForceEndTurn(message: object): void
  sendCloseStream(message: object): void
  sendText(message: object): void
  sendFlush(message: object): void
  sendClose(message: object): void
}
type Connect = { connect(options: object): Promise<Socket> }
type Transcription = {
  metadata: { duration: number }
  results: { channels: { alternatives: { transcript: string }[] }[] }
}
type Client = {
  listen: {
    v1: Connect & { media: { transcribeFile(file: Uint8Array, ask: object, options?: object): Promise<Transcription> } }
    v2: Connect
  }
  speak: {
    v1: Connect & {
      audio: { generate(ask: object, options?: object): Promise<{ arrayBuffer(): Promise<ArrayBuffer> }> }
    }
  }
}
type Sdk = { DeepgramClient: new (options: object) => Client }

const sdk = load()
const skip = sdk ? false : '@deepgram/sdk is not installed: npm ci in test/vendors'
const stub = await startDeepgramStub()
t.teardown(() => stub.close())

const linear = { encoding: 'linear16', sample_rate: 16_000 }
const once = { maxRetries: 0, timeoutInSeconds: 5 }
const transcribe = (options: object = once) =>
  client().listen.v1.media.transcribeFile(recordingPcm, { model: 'nova-3', ...linear }, options)
const generate = (options: object = once) =>
  client().speak.v1.audio.generate(
    { text: 'Hello', model: 'aura-2-thalia-en', encoding: 'linear16', container: 'none', sample_rate: 24_000 },
    options,
  )

t.test('over HTTP the Deepgram SDK gets the answers of the stub', { skip }, async (t) => {
  for (const cell of ['ok', 'slow_first_byte'] as const) {
    stub.behave(cell)
    const { metadata, results } = await transcribe()
    t.equal(results.channels[0]?.alternatives[0]?.transcript, transcriptOf(samplesOf(recordingPcm)))
    t.equal(metadata.duration, 0.25)
    t.ok(Buffer.from(await (await generate()).arrayBuffer()).equals(speechPcm))
  }
})

t.test('over HTTP the Deepgram SDK gets the errors of the stub', { skip }, async (t) => {
  const refusals: [Cell, number][] = [
    ['auth', 401],
    ['quota', 402],
    ['rate_limited', 429],
    ['rate_limited_bare', 429],
    ['overloaded', 503],
    ['server', 500],
    ['bad_request', 400],
  ]
  for (const [cell, statusCode] of refusals) {
    stub.behave(cell)
    t.match(await thrownBy(transcribe()), { statusCode }, `transcribe: ${cell}`)
    t.match(await thrownBy(generate()), { statusCode }, `generate: ${cell}`)
  }
  for (const cell of ['cut', 'reset'] as const) {
    stub.behave(cell)
    await t.rejects(transcribe(), Error, `transcribe: ${cell}`)
  }
  stub.behave('garbage')
  t.notOk((await transcribe()).results, 'garbage is handed on as it is')
  stub.behave('hang')
  await t.rejects(transcribe({ ...once, timeoutInSeconds: 0.3 }), Error, 'hang')
})

t.test('over a socket the Deepgram SDK receives two utterances', { skip }, async (t) => {
  const [first, second] = [sinePcm(1600, 16_000), sinePcm(3200, 16_000)]
  stub.behave('ok')
  const nova = await open(client().listen.v1, {
    model: 'nova-3',
    ...linear,
    interim_results: 'true',
    vad_events: 'true',
  })
  const textOf = (frames: Frame[]) =>
    frames
      .filter((frame) => frame.is_final)
      .map((frame) => frame.channel?.alternatives[0]?.transcript)
      .join(' ')
  nova.socket.sendMedia(first)
  nova.socket.sendFinalize({ type: 'Finalize' })
  await nova.until((frames) => textOf(frames) === transcriptOf(first))
  nova.socket.sendMedia(second)
  nova.socket.sendCloseStream({ type: 'CloseStream' })
  await nova.until((frames) => frames.some(({ type }) => type === 'Metadata'))
  t.equal(textOf(nova.frames), `${transcriptOf(first)} ${transcriptOf(second)}`)
  t.ok(nova.frames.some(({ type, is_final }) => type === 'Results' && is_final === false))
  t.ok(nova.frames.some(({ type }) => type === 'SpeechStarted'))
  t.equal(nova.frames.at(-1)?.duration?.toFixed(3), '0.300')
  t.match(await nova.closed, { code: 1000 })

  const flux = await open(client().listen.v2, { model: 'flux-general-en', ...linear })
  flux.socket.sendMedia(first)
  flux.socket.sendForceEndTurn({ type: 'ForceEndTurn' })
  await flux.until((frames) => frames.some(({ event }) => event === 'EndOfTurn'))
  flux.socket.sendMedia(second)
  flux.socket.sendCloseStream({ type: 'CloseStream' })
  t.match(await flux.closed, { code: 1005 })
  t.equal(flux.frames[0]?.type, 'Connected')
  t.equal(flux.frames.find(({ event }) => event === 'EndOfTurn')?.transcript, transcriptOf(first))
  t.match(flux.frames.at(-1), { event: 'Update', transcript: transcriptOf(second) })
})

t.test('over a socket the Deepgram SDK receives speech', { skip }, async (t) => {
  stub.behave('ok')
  const aura = await open(client().speak.v1, { model: 'aura-2-thalia-en', encoding: 'linear16', sample_rate: 24_000 })
  aura.socket.sendText({ type: 'Speak', text: 'Hello' })
  aura.socket.sendFlush({ type: 'Flush' })
  await aura.until((frames) => frames.some(({ type }) => type === 'Flushed'))
  t.ok(Buffer.concat(await Promise.all(aura.audio)).equals(speechPcm))
  t.equal(aura.frames[0]?.type, 'Metadata')
  aura.socket.sendClose({ type: 'Close' })
  await aura.closed
})

t.test('over a socket the Deepgram SDK reports failures', { skip }, async (t) => {
  const rows: [Cell, object][] = [
    ['empty', { code: 1000 }],
    ['cut', { code: 1006 }],
    ['error_mid', { code: 1011, reason: 'NET-0000' }],
  ]
  for (const [cell, close] of rows) {
    stub.behave(cell)
    const { socket, closed } = await open(client().listen.v1, { model: 'nova-3', ...linear })
    socket.sendMedia(sinePcm(1600, 16_000))
    t.match(await closed, close, cell)
    socket.close()
  }
  stub.behave('error_mid')
  const flux = await open(client().listen.v2, { model: 'flux-general-en', ...linear })
  flux.socket.sendMedia(sinePcm(1600, 16_000))
  await flux.until((frames) => frames.some(({ code }) => code === 'INTERNAL_SERVER_ERROR'))
  flux.socket.close()
  stub.behave('auth')
  await t.rejects(open(client().listen.v1, { model: 'nova-3', ...linear }), /401/)
})

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

type Opened = {
  socket: Socket
  frames: Frame[]
  audio: Promise<Buffer>[]
  closed: Promise<{ code: number; reason: string }>
  until(condition: (frames: Frame[]) => boolean): Promise<void>
}

async function open(connect: Connect, ask: object): Promise<Opened> {
  const socket = await connect.connect({ ...ask, Authorization: 'Token dg-stub', reconnectAttempts: 0 })
  const frames: Frame[] = []
  const audio: Promise<Buffer>[] = []
  let look = () => {}
  socket.on('message', (frame) => {
    if (frame instanceof Blob) audio.push(frame.arrayBuffer().then((bytes) => Buffer.from(bytes)))
    else if (frame instanceof ArrayBuffer) audio.push(Promise.resolve(Buffer.from(frame)))
    else frames.push(frame)
    look()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => socket.on('close', resolve))
  const failed = new Promise<never>((_resolve, reject) => socket.on('error', reject))
  failed.catch(() => {})
  socket.connect()
  await Promise.race([socket.waitForOpen(), failed])
  const until = (condition: (frames: Frame[]) => boolean) =>
    new Promise<void>((resolve) => {
      look = () => condition(frames) && resolve()
      look()
    })
  return { socket, frames, audio, closed, until }
}

function client(): Client {
  if (!sdk) throw new Error('the SDK is missing')
  const socketUrl = stub.url.replace('http:', 'ws:')
  const environment = { base: stub.url, production: socketUrl, agent: socketUrl, agentRest: stub.url }
  return new sdk.DeepgramClient({ apiKey: 'dg-stub', environment })
}

function load(): Sdk | null {
  try {
    return createRequire(import.meta.url)('@deepgram/sdk') as Sdk
  } catch {
    return null
  }
}
