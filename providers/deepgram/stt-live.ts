/**
 * One socket that hears. Deepgram has two protocols for it, which differ in what they tell and in how they end: each is a `Dialogue` that this
 * stream holds for them.
 */

import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { SttStream } from '../../domain/speech/stt.ts'
import { type JsonObject } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import type { Standby } from '../wire/socket.ts'
import { classOfClose, classOfFrame } from './wire.ts'

export interface Dialogue {
  /** Path and query of the socket. */
  readonly path: string
  /** Ends the utterance now. */
  readonly flush: string
  /** What says that no more audio comes. */
  end(): string
  /** Null: this protocol has none. */
  readonly keepAlive: string | null
  /** Answers the terminal mark when that is what came. Throws ProviderError. */
  hear(frame: JsonObject): Terminal | null
  /** Whether a close with this code is the terminal mark itself. */
  endsAt(closeCode: number): boolean
  /** Tells what no frame has made final. */
  conclude(): void
}
export type Terminal = { billedMs?: number }

/**
 * From its opening a socket has ten seconds to be sent audio, and a keep-alive does not stand for the first of it. What is billed is audio, so one that
 * waits costs nothing.
 */
export const listenStandby: Standby = { keepAlive: null, idleMsMax: 8000 }

/** After audio a keep-alive buys ten more seconds. Twice this is the most that passes between two of them. */
const keepAliveMs = 4000

export class ListeningStream implements SttStream, SttVendor {
  readonly #dialogue: Dialogue
  readonly #clock: Clock
  readonly #socket: SttSocket
  #isFed = false
  #stopKeepingAlive: () => void = () => {}

  constructor(dialogue: Dialogue, parts: SttSocketParts) {
    this.#dialogue = dialogue
    this.#clock = parts.clock
    this.#socket = new SttSocket(parts, this)
    // It listens as soon as it is open; a greeting says nothing more.
    this.#socket.listens()
    if (dialogue.keepAlive !== null) this.#keepAliveLater(dialogue.keepAlive)
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes
  }

  audio(bytes: Uint8Array): void {
    // An empty frame would end the stream.
    if (!this.#socket.isListening || bytes.length === 0) return
    this.#isFed = true
    this.#socket.send(bytes)
  }

  flush(): void {
    if (this.#socket.isListening) this.#socket.send(this.#dialogue.flush)
  }

  end(): void {
    this.#stopKeepingAlive()
    this.#socket.end(this.#dialogue.end())
  }

  close(): void {
    this.#stopKeepingAlive()
    this.#socket.close()
  }

  frame(frame: JsonObject): void {
    if (frame['type'] === 'Error') return this.#socket.fail(classOfFrame(frame), frame)
    const terminal = this.#dialogue.hear(frame)
    if (terminal) this.#finish(terminal)
  }

  closed(code: number): void {
    if (!this.#socket.isListening && this.#dialogue.endsAt(code)) this.#finish({})
  }

  classOfClose(code: number, reason: string): ErrorClass | null {
    return classOfClose(code, reason)
  }

  /** Whoever hears the conclusion may close the stream for it, and then nothing more is told. */
  #finish({ billedMs }: Terminal): void {
    this.#dialogue.conclude()
    this.#socket.finished(billedMs)
  }

  #keepAliveLater(text: string): void {
    this.#stopKeepingAlive = this.#clock.after(keepAliveMs, () => {
      if (!this.#socket.isListening) return
      if (!this.#isFed) this.#socket.send(text)
      this.#isFed = false
      this.#keepAliveLater(text)
    })
  }
}
