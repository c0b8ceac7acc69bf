/**
 * Realtime transcription for clients of OpenAI's realtime API: a real server's events in their order, each with the
 * example values.
 */
import type { TranscriptionRealtimeSession } from '../generated/realtime/channels.ts'
import type { FrameProblem } from '../runtime/engine/socket.ts'
import type { MockSocket } from './frames.ts'

export class MockRealtime implements TranscriptionRealtimeSession {
  readonly #socket: MockSocket
  /**
   * True if the client uses the beta API, which announces an item with `conversation.item.created` instead of
   * `conversation.item.added`.
   */
  #isOlder = false
  #isSpeaking = false

  constructor(socket: MockSocket) {
    this.#socket = socket
    socket.send('SessionCreated')
  }

  onSessionUpdate(): void {
    this.#isOlder = false
    this.#socket.send('SessionUpdated')
  }

  onTranscriptionSessionUpdate(): void {
    this.#isOlder = true
    this.#socket.send('TranscriptionSessionUpdated')
  }

  onInputAudioBufferAppend(): void {
    if (!this.#isSpeaking) this.#socket.send('InputAudioBufferSpeechStarted')
    this.#isSpeaking = true
  }

  onInputAudioBufferCommit(): void {
    const items = this.#isOlder ? ['ConversationItemCreated'] : ['ConversationItemAdded', 'ConversationItemDone']
    if (this.#isSpeaking) this.#socket.send('InputAudioBufferSpeechStopped')
    this.#isSpeaking = false
    const words = ['InputAudioTranscriptionDelta', 'InputAudioTranscriptionCompleted']
    for (const message of ['InputAudioBufferCommitted', ...items, ...words]) this.#socket.send(message)
  }

  onInputAudioBufferClear(): void {
    this.#isSpeaking = false
    this.#socket.send('InputAudioBufferCleared')
  }

  /** A client's mistake leaves this channel open. */
  onRefused({ message }: FrameProblem): void {
    const error = { type: 'invalid_request_error', code: 'INVALID_FRAME', message, param: null, event_id: null }
    this.#socket.send('ErrorEvent', { error })
  }

  onBytes(): void {}
  onDrained(): void {}
  onSlowReader(): void {}
  onShutdown(): void {}
  onGone(): void {}
}
