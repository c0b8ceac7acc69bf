/** The generated clients open every channel on the mock server, and receive the frames in the contract's order. */
import t from 'tap'
import WebSocket from 'ws'
import { createRealtimeClient } from '../../generated/clients/typescript/realtime.ts'
import { createSessionClient } from '../../generated/clients/typescript/session.ts'
import type { SocketConstructor } from '../../generated/clients/typescript/socket-open.ts'
import { readContract } from '../examples/contract.ts'
import { serve } from './setup.ts'

const { url } = await serve(t)
const id = '0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b'
const constructor = WebSocket as unknown as SocketConstructor
const options = { baseUrl: url, apiKey: 'any', WebSocket: constructor }
const realtime = createRealtimeClient(options)
const session = createSessionClient(options)
const streamExamples = readContract('realtime.asyncapi.yaml').examples
const sessionExamples = readContract('session.asyncapi.yaml').examples

type Frame = { type: string }
type AnySocket = {
  opened: Promise<void>
  closed: Promise<{ code: number }>
  send(frame: never): void
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void
  on(type: never, listener: (frame: never) => void): void
  onBytes(listener: (bytes: Uint8Array<ArrayBuffer>) => void): void
  close(): void
}

/** Collects a socket's frames in their order. Binary frames have the type `audio`. */
function collect(typed: object, types: readonly string[]) {
  const socket = typed as AnySocket
  const frames: (Frame & { bytes?: number })[] = []
  for (const type of types) socket.on(type as never, (frame: never) => void frames.push(frame))
  socket.onBytes((bytes) => void frames.push({ type: 'audio', bytes: bytes.length }))
  /** The frame types in order. Neighbouring frames of the same type count once. */
  const order = () => frames.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])
  const send = (...sent: object[]) => {
    for (const frame of sent) socket.send(frame as never)
  }
  return { frames, order, send }
}

const streamTypes = ['ready', 'speech_started', 'transcript', 'cleared', 'pong', 'end', 'error']

t.test('transcribeStream sends ready, transcripts and end', async (t) => {
  const socket = realtime.transcribeStream()
  const { frames, order, send } = collect(socket, streamTypes)
  await socket.opened
  send({ type: 'config', encoding: 'mulaw', sampleRate: 8000 })
  socket.sendBytes(new Uint8Array(320))
  socket.sendBytes(new Uint8Array(320))
  send({ type: 'flush' }, { type: 'ping' })
  socket.sendBytes(new Uint8Array(320))
  send({ type: 'end' })
  t.equal((await socket.closed).code, 1000)
  const utterance = ['speech_started', 'transcript']
  t.same(order(), ['ready', ...utterance, 'pong', ...utterance, 'end'])
  t.match(frames[0], { ...(streamExamples.get('Ready: 0') as object), encoding: 'mulaw', sampleRate: 8000 })
  const [interim, final] = [streamExamples.get('Transcript: interim'), streamExamples.get('Transcript: final')]
  t.same(
    frames.filter(({ type }) => type === 'transcript'),
    [interim, final, interim, final],
  )
  t.same(frames.at(-1), streamExamples.get('TranscriptionEnd: 0'))
})

t.test('synthesizeStream sends audio in the format of ready', async (t) => {
  const socket = realtime.synthesizeStream()
  const { frames, order, send } = collect(socket, streamTypes)
  await socket.opened
  send(
    { type: 'config' },
    { type: 'text', text: 'Good ' },
    { type: 'ping' },
    { type: 'text', text: 'day.', flush: true },
  )
  send({ type: 'clear' }, { type: 'text', text: 'Dropped.' }, { type: 'clear' }, { type: 'flush' })
  send({ type: 'text', text: 'Goodbye.' }, { type: 'end' })
  t.equal((await socket.closed).code, 1000)
  t.same(order(), ['ready', 'pong', 'audio', 'cleared', 'audio', 'end'])
  t.match(frames[0], { encoding: 'pcm_s16le', sampleRate: 24_000 })
  const audio = frames.filter(({ type }) => type === 'audio')
  t.same([audio.length, new Set(audio.map(({ bytes }) => bytes))], [40, new Set([960])], '20 ms in a frame')
  t.same(frames.at(-1), streamExamples.get('SpeechEnd: 0'))
})

t.test('transcriptionRealtime sends the events of an utterance in their order', async (t) => {
  const socket = realtime.transcriptionRealtime()
  const utterance = ['speech_started', 'speech_stopped', 'committed', 'cleared'].map(
    (name) => `input_audio_buffer.${name}`,
  )
  const items = ['added', 'done', 'created'].map((name) => `conversation.item.${name}`)
  const words = ['delta', 'completed'].map((name) => `conversation.item.input_audio_transcription.${name}`)
  const settings = ['session.created', 'session.updated', 'transcription_session.updated']
  const { order, send } = collect(socket, [...settings, ...utterance, ...items, ...words, 'error'])
  await socket.opened
  const audio = { type: 'input_audio_buffer.append', audio: 'AAAA' }
  const commit = { type: 'input_audio_buffer.commit' }
  send({ type: 'session.update', session: { type: 'transcription' } }, audio, audio, commit)
  send({ type: 'transcription_session.update', session: {} }, audio, commit, { type: 'input_audio_buffer.clear' })
  send({ type: 'unknown' }, { type: 'session.update', session: {} })
  await new Promise<void>((resolve) => socket.on('session.updated', () => resolve()))
  socket.close()
  t.equal((await socket.closed).code, 1000)
  const [started, stopped, committed, cleared] = utterance
  const [added, done, created] = items
  t.same(order(), [
    ...['session.created', started, stopped, committed, added, done, ...words],
    ...['transcription_session.updated', started, stopped, committed, created, ...words, cleared, 'error'],
  ])
})

const sessionTypes = [
  ...['ready', 'mark', 'clear', 'state', 'transcript', 'agent_message'],
  ...['user_message_echo', 'tool_call', 'pong', 'end', 'error'],
]

t.test('sessionMedia greets, answers and ends', async (t) => {
  const socket = session.sessionMedia({ id })
  const { frames, order, send } = collect(socket, sessionTypes)
  await socket.opened
  socket.sendBytes(new Uint8Array(640))
  send({ type: 'user_message', text: 'When do you open?' }, { type: 'dtmf', digits: '12#' })
  send({ type: 'tool_result', id: 'call_2', result: '{}' }, { type: 'ping' }, { type: 'end' })
  t.equal((await socket.closed).code, 1000)
  const answer = ['agent_message', 'audio', 'mark']
  t.same(order(), [
    ...['ready', 'state', ...answer, 'transcript', ...answer],
    ...['clear', 'user_message_echo', 'tool_call', ...answer, 'tool_call', ...answer, 'pong', 'end'],
  ])
  t.same(frames[0], sessionExamples.get('Ready: 0'))
  t.same(
    frames.find(({ type }) => type === 'user_message_echo'),
    { type: 'user_message_echo', text: 'When do you open?' },
  )
  t.same(new Set(frames.filter(({ bytes }) => bytes !== undefined).map(({ bytes }) => bytes)), new Set([960]))
})

t.test('a frame that breaks the contract is answered with an error frame, and the socket closes', async (t) => {
  const closing = async (socket: Pick<AnySocket, 'opened' | 'closed'>, ...sent: object[]) => {
    const { frames, send } = collect(socket, [...streamTypes, ...sessionTypes])
    await socket.opened
    send(...sent)
    const { code } = await socket.closed
    return [(frames.at(-1) as { code?: string } | undefined)?.code, code]
  }
  const stream = () => realtime.transcribeStream()
  t.same(await closing(stream(), { type: 'ping' }), ['INVALID_CONFIG', 1008])
  t.same(await closing(stream(), { type: 'config', colour: 'red' }), ['INVALID_CONFIG', 1008])
  t.same(await closing(stream(), { type: 'config' }, { type: 'flush', colour: 'red' }), ['INVALID_FRAME', 1008])
  const opus = { type: 'config', encoding: 'opus' }
  t.same(await closing(realtime.synthesizeStream(), opus), ['INVALID_CONFIG', 1008])
  t.same(await closing(session.sessionMedia({ id }), { type: 'unknown' }), ['INVALID_FRAME', 1008])
})

t.test('a browser can open a socket with its token in the subprotocols', async (t) => {
  const socket = createSessionClient({ baseUrl: url, token: 'any', WebSocket: constructor }).sessionMedia({ id })
  await socket.opened
  socket.close()
  t.equal((await socket.closed).code, 1000)
})

t.test('an upgrade without a key, with another subprotocol or with a preferred status is refused', async (t) => {
  const path = `/v1/sessions/${id}/media`
  const statusOf = (address: string, protocols: string[], headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws') + address, protocols, { headers })
      socket.on('unexpected-response', (_request, response) => {
        response.resume()
        resolve(response.statusCode)
      })
      socket.on('open', () => resolve(101))
    })
  const authorization = 'Bearer any'
  const protocol = ['service.session.v1']
  t.equal(await statusOf(path, protocol, {}), 401)
  t.equal(await statusOf(path, ['another'], { authorization }), 400)
  t.equal(await statusOf(path, protocol, { authorization, prefer: 'code=404' }), 404)
  t.equal(await statusOf('/v1/realtime', [], { authorization, prefer: 'code=429' }), 429)
  t.equal(await statusOf('/v1/unknown', [], { authorization }), 404)
})

t.test('a socket ends with the error that the Prefer header names', async (t) => {
  const prefers = (path: string, prefer: string, first: object) =>
    new Promise<[string | undefined, number]>((resolve) => {
      const headers = { authorization: 'Bearer any', prefer }
      const socket = new WebSocket(url.replace('http', 'ws') + path, [], { headers })
      let last: { code?: string } = {}
      socket.on('open', () => socket.send(JSON.stringify(first)))
      socket.on('message', (data: Buffer) => (last = JSON.parse(data.toString()) as { code?: string }))
      socket.on('close', (code) => resolve([last.code, code]))
    })
  t.same(await prefers('/v1/transcribe/stream', 'error=UPSTREAM', { type: 'config' }), ['UPSTREAM', 1011])
  t.same(await prefers(`/v1/sessions/${id}/media`, 'error=REVOKED', { type: 'ping' }), ['REVOKED', 4401])
})
