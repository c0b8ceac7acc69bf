/**
 * The two speech streams. Each sends its messages' examples in the contract's order:
 *
 *   transcribe:  config → ready, first audio → speech_started, transcript, flush or end → final transcript, end → end
 *   synthesize:  config → ready, text, flush or end → audio, clear → cleared, end → end
 */

import { isSampleEncoding } from '../audio/pcm.ts'
import type { SynthesizeStreamSession, TranscribeStreamSession } from '../generated/realtime/channels.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../generated/realtime/errors.ts'
import type { SttConfig, TtsConfig } from '../generated/realtime/types.ts'
import type { FrameProblem } from '../runtime/engine/socket.ts'
import type { AudioFormat, MockSocket } from './frames.ts'

/** `wantedError` is the error from the client's preferences, sent instead of `ready`. Null: no error. */
export type StreamOptions = { wantedError: string | null }

const usualRateHz = { transcribe: 16_000, synthesize: 24_000 }
/** The speech for a text. A socket may send ahead of real time. */
const speechMs = 400

abstract class Stream {
  protected readonly socket: MockSocket
  readonly #wantedError: string | null
  #isConfigured = false
  #isEnded = false

  constructor(socket: MockSocket, { wantedError }: StreamOptions) {
    this.socket = socket
    this.#wantedError = wantedError
  }

  onRefused({ message }: FrameProblem): void {
    this.fail(this.#isConfigured ? 'INVALID_FRAME' : 'INVALID_CONFIG', message)
  }

  onPing(): void {
    if (this.isOpen()) this.socket.send('Pong')
  }

  onDrained(): void {}
  onSlowReader(): void {}
  onShutdown(): void {}
  onGone(): void {}

  protected begin(format: AudioFormat): void {
    if (this.#isEnded) return
    if (this.#isConfigured) return this.fail('INVALID_CONFIG')
    this.#isConfigured = true
    if (isErrorCode(this.#wantedError)) return this.fail(this.#wantedError)
    this.socket.send('Ready', format)
  }

  /** True between the config and the end. A frame before the config is an error. */
  protected isOpen(): boolean {
    if (!this.#isConfigured) this.fail('INVALID_CONFIG')
    return !this.#isEnded
  }

  protected end(message: string): void {
    this.#isEnded = true
    this.socket.send(message)
    this.socket.close(1000)
  }

  protected fail(code: RealtimeErrorCode, message?: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const { closeCode, retryable, message: usual } = realtimeErrors[code]
    this.socket.send('Error', { code, retryable, message: message ?? usual })
    this.socket.close(closeCode, code)
  }
}

export class MockTranscription extends Stream implements TranscribeStreamSession {
  #isSpeaking = false

  onConfig({ encoding = 'pcm_s16le', sampleRate = usualRateHz.transcribe }: SttConfig): void {
    this.begin({ encoding, sampleRate })
  }

  onBytes(): void {
    if (!this.isOpen() || this.#isSpeaking) return
    this.#isSpeaking = true
    this.socket.send('SpeechStarted')
    this.socket.send('Transcript', {}, 'interim')
  }

  onFlush(): void {
    if (this.isOpen()) this.#complete()
  }

  onEnd(): void {
    if (!this.isOpen()) return
    this.#complete()
    this.end('TranscriptionEnd')
  }

  #complete(): void {
    if (this.#isSpeaking) this.socket.send('Transcript', {}, 'final')
    this.#isSpeaking = false
  }
}

export class MockSynthesis extends Stream implements SynthesizeStreamSession {
  #format: AudioFormat = { encoding: 'pcm_s16le', sampleRate: usualRateHz.synthesize }
  #hasText = false

  onConfig({ encoding = 'pcm_s16le', sampleRate = usualRateHz.synthesize }: TtsConfig): void {
    this.#format = { encoding, sampleRate }
    if (isSampleEncoding(encoding)) this.begin(this.#format)
    else this.fail('INVALID_CONFIG', `the mock server has no audio in the encoding ${encoding}`)
  }

  onBytes(): void {}

  onText({ flush = false }: { flush?: boolean }): void {
    if (!this.isOpen()) return
    this.#hasText = true
    if (flush) this.#speak()
  }

  onFlush(): void {
    if (this.isOpen()) this.#speak()
  }

  onClear(): void {
    if (!this.isOpen()) return
    this.#hasText = false
    this.socket.send('Cleared')
  }

  onEnd(): void {
    if (!this.isOpen()) return
    this.#speak()
    this.end('SpeechEnd')
  }

  #speak(): void {
    if (this.#hasText) this.socket.sendTone(this.#format, speechMs)
    this.#hasText = false
  }
}

function isErrorCode(code: string | null): code is RealtimeErrorCode {
  return code !== null && Object.hasOwn(realtimeErrors, code)
}
