/**
 * A session's media. The agent greets, and answers a typed turn, the first audio and each key `#`:
 *
 *   opening → ready, state, greeting     user_message → clear, user_message_echo, tool_call, answer
 *   first audio → transcript, answer     dtmf with # → tool_call that asks the page, tool_result → answer
 *
 * A greeting and an answer are an agent_message, its audio and a mark.
 */
import type { SessionMediaSession } from '../generated/session/channels.ts'
import { type SessionErrorCode, sessionErrors } from '../generated/session/errors.ts'
import type { DtmfFrame } from '../generated/session/types.ts'
import type { FrameProblem } from '../runtime/engine/socket.ts'
import type { AudioFormat, MockSocket } from './frames.ts'
import type { StreamOptions } from './stream-channels.ts'

/** The format in the example for `ready`. */
const format: AudioFormat = { encoding: 'pcm_s16le', sampleRate: 24_000 }
/** The mark in the examples is at this time in the turn. */
const speechMs = 300

export class MockSession implements SessionMediaSession {
  readonly #socket: MockSocket
  #isRecognized = false
  #isEnded = false

  constructor(socket: MockSocket, { wantedError }: StreamOptions) {
    this.#socket = socket
    socket.send('Ready')
    socket.send('State')
    if (isErrorCode(wantedError)) this.#fail(wantedError)
    if (!this.#isEnded) this.#speak()
  }

  /** The agent allows every setting, so nothing is reported. */
  onOverrides(): void {}
  onPlayed(): void {}
  onContextualUpdate(): void {}

  onBytes(): void {
    if (this.#isRecognized || this.#isEnded) return
    this.#isRecognized = true
    this.#socket.send('Transcript')
    this.#speak()
  }

  onUserMessage({ text }: { text: string }): void {
    if (this.#isEnded) return
    this.#socket.send('Clear')
    this.#socket.send('UserMessageEcho', { text })
    this.#socket.send('ToolCall', {}, 'status')
    this.#speak()
  }

  onDtmf({ digits }: DtmfFrame): void {
    if (!this.#isEnded && digits.endsWith('#')) this.#socket.send('ToolCall', {}, 'requested')
  }

  onToolResult(): void {
    if (!this.#isEnded) this.#speak()
  }

  onPing(): void {
    if (!this.#isEnded) this.#socket.send('Pong')
  }

  onEnd(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#socket.send('End')
    this.#socket.close(1000)
  }

  onRefused({ message }: FrameProblem): void {
    this.#fail('INVALID_FRAME', message)
  }

  onDrained(): void {}
  onSlowReader(): void {}
  onShutdown(): void {}
  onGone(): void {}

  #speak(): void {
    this.#socket.send('AgentMessage', {}, 'whole')
    this.#socket.sendTone(format, speechMs)
    this.#socket.send('Mark')
  }

  /** Some errors leave the session as it was; the others close the socket. */
  #fail(code: SessionErrorCode, message?: string): void {
    if (this.#isEnded) return
    const { closeCode, retryable, message: usual } = sessionErrors[code]
    this.#socket.send('Error', { code, retryable, fatal: closeCode !== null, message: message ?? usual })
    if (closeCode === null) return
    this.#isEnded = true
    this.#socket.close(closeCode, code)
  }
}

function isErrorCode(code: string | null): code is SessionErrorCode {
  return code !== null && Object.hasOwn(sessionErrors, code)
}
