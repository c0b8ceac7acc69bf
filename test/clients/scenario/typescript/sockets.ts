/** The two realtime sockets. */
import { WebSocket } from 'ws'
import {
  createRealtimeClient,
  SocketClosedError,
  type SocketConstructor,
} from '../../../../generated/clients/typescript/realtime.ts'
import { apiKey, baseUrl, loopback, recording, type Steps, text, wordsOf } from './settings.ts'

// The package's types have more events than a client needs, so they are narrowed here.
const constructor = WebSocket as unknown as SocketConstructor
const realtime = createRealtimeClient({ baseUrl, apiKey, WebSocket: constructor })
const frameBytes = 3200

export const socketSteps: Steps = {
  async socket_transcribe() {
    const socket = realtime.transcribeStream()
    const finals: string[] = []
    socket.on('transcript', ({ text, isFinal }) => void (isFinal && finals.push(text)))
    await socket.opened
    await socket.send({ type: 'config', language: 'en', contentType: 'audio/wav' })
    for (let at = 0; at < recording.length; at += frameBytes)
      await socket.sendBytes(recording.slice(at, at + frameBytes))
    await socket.send({ type: 'end' })
    const { code } = await socket.closed
    return { words: wordsOf(finals.join(' ')), close: code }
  },
  async socket_synthesize() {
    const socket = realtime.synthesizeStream()
    let bytes = 0
    let characters: number | null = null
    socket.onBytes((chunk) => (bytes += chunk.length))
    socket.on('end', ({ usage }) => (characters = usage.characters))
    await socket.opened
    await socket.send({ type: 'config', model: loopback.model })
    await socket.send({ type: 'text', text })
    await socket.send({ type: 'end' })
    const { code } = await socket.closed
    return { bytes, characters, close: code }
  },
  async socket_refused() {
    const socket = realtime.synthesizeStream()
    await socket.opened
    await socket.send({ type: 'config', sampleRate: 1 })
    const { code, error } = await socket.closed
    if (!(error instanceof SocketClosedError)) return { close: code, error: String(error) }
    return { code: error.code, close: code, retryable: error.retryable }
  },
}
