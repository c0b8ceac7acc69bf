/** The example frames in the AsyncAPI documents, and the mock server's side in one open socket. */
import type { WebSocket } from 'ws'
import { realtimeContract } from '../generated/realtime/contract.ts'
import { sessionContract } from '../generated/session/contract.ts'
import { tone } from './audio.ts'

type Message = { examples?: { name?: string; payload: object }[] }
type Document = { components: { messages: Record<string, Message> } }
type Messages = Readonly<Record<string, Message>>

const read = (contract: string) => (JSON.parse(contract) as Document).components.messages
export const realtimeMessages: Messages = read(realtimeContract)
export const sessionMessages: Messages = read(sessionContract)

/** The format for audio from server to client. */
export type AudioFormat = { encoding: string; sampleRate: number }

/** Sends one socket's frames. */
export class MockSocket {
  readonly #socket: WebSocket
  readonly #messages: Messages

  constructor(socket: WebSocket, messages: Messages) {
    this.#socket = socket
    this.#messages = messages
  }

  /** Sends a message's example, by default the first example. `changes` replaces some fields. */
  send(message: string, changes: object = {}, example?: string): void {
    const { examples = [] } = this.#messages[message] ?? {}
    const found = examples.find(({ name }) => example === undefined || name === example)
    if (found === undefined) throw new Error(`the contract has no example ${example ?? ''} of ${message}`)
    this.#socket.send(JSON.stringify({ ...found.payload, ...changes }))
  }

  /** Sends a tone for `ms`, 20 ms in a frame. Throws UnsupportedFormat. */
  sendTone({ encoding, sampleRate }: AudioFormat, ms: number): void {
    const frame = tone(encoding, sampleRate, frameMs)
    for (let sentMs = 0; sentMs < ms; sentMs += frameMs) this.#socket.send(frame)
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason)
  }
}

const frameMs = 20
