import type { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { charactersOf } from './delivery.ts'
import { isSpeakable, SentenceBuffer } from './sentence-buffer.ts'

/** A sentence that a provider is asked for. `opening` resolves with its first audio. */
export type SpokenSentence = {
  sentence: string
  signal: AttemptSignal
  opening: Promise<AsyncIterable<Uint8Array>>
  /** 0 until the provider was asked. */
  billed: { characters: number }
}

/** The session that a turn speaks in. */
export interface Speaker {
  /** Asks the provider. Called in the order of the text, and not before the one before it has opened. */
  ask(sentence: string): SpokenSentence
  /** The most that is handed over at once: what is handed over cannot be dropped any more. */
  readonly pieceBytesMax: number
  /** Null: there is room for more audio now. */
  room(): Promise<void> | null
  hand(audio: Uint8Array): void
  /** All that was whole has been said. */
  silent(): void
  failed(error: unknown, utterance: SpokenSentence | null): void
}

/**
 * All that is said between two clears. While a sentence is handed over the next is asked for already, up to its first audio: what
 * comes after that waits with the provider.
 *
 *   text ─► buffer ─► queue ─► asked ─► current ─► listener
 */
export class Utterance {
  readonly #speaker: Speaker
  readonly #buffer = new SentenceBuffer()
  #queue: string[] = []
  #queuedLength = 0
  #asked: SpokenSentence | null = null
  #current: SpokenSentence | null = null
  #isReady: boolean
  #isSpeaking = false
  #isDropped = false
  #charactersSent = 0

  /** `isReady`: there is a provider to ask. */
  constructor(speaker: Speaker, isReady: boolean) {
    this.#speaker = speaker
    this.#isReady = isReady
  }

  /** UTF-16 units that no provider was asked for yet. */
  get waiting(): number {
    return this.#queuedLength + this.#buffer.length
  }

  get isSilent(): boolean {
    return !this.#isSpeaking && this.#queue.length === 0
  }

  /** A provider can be asked from now on. */
  start(): void {
    this.#isReady = true
    this.#proceed()
  }

  push(text: string): void {
    for (const sentence of this.#buffer.push(text)) this.#enqueue(sentence)
    this.#proceed()
  }

  flush(): void {
    this.#enqueue(this.#buffer.flush())
    this.#proceed()
  }

  /** Nothing of it is handed over any more from here on. Answers the characters whose sentences had begun to be. */
  drop(): number {
    this.#isDropped = true
    for (const utterance of [this.#current, this.#asked])
      utterance?.signal.end(new ProviderError('cancelled', { sent: true }))
    return this.#charactersSent
  }

  #enqueue(sentence: string): void {
    if (sentence === '') return
    this.#queue.push(sentence)
    this.#queuedLength += sentence.length
  }

  #proceed(): void {
    if (!this.#isReady || this.#isDropped) return
    if (this.#isSpeaking) this.#askNext()
    else void this.#speak()
  }

  async #speak(): Promise<void> {
    this.#isSpeaking = true
    try {
      for (this.#askNext(); this.#asked !== null; this.#askNext()) {
        this.#current = this.#asked
        const audio = await this.#current.opening
        this.#asked = null
        if (this.#isDropped) return
        this.#askNext()
        await this.#play(this.#current, audio)
        if (this.#isDropped) return
        this.#current.signal.close()
        this.#current = null
      }
      this.#isSpeaking = false
      this.#speaker.silent()
    } catch (error) {
      if (!this.#isDropped) this.#speaker.failed(error, this.#current)
    }
  }

  #askNext(): void {
    if (this.#asked !== null) return
    for (let sentence = this.#dequeue(); sentence !== undefined; sentence = this.#dequeue()) {
      if (isSpeakable(sentence)) {
        this.#asked = this.#speaker.ask(sentence)
        return
      }
      this.#charactersSent += charactersOf(sentence)
    }
  }

  #dequeue(): string | undefined {
    const sentence = this.#queue.shift()
    this.#queuedLength -= sentence?.length ?? 0
    return sentence
  }

  async #play({ sentence }: SpokenSentence, audio: AsyncIterable<Uint8Array>): Promise<void> {
    let characters = charactersOf(sentence)
    for await (const chunk of audio) {
      for (let at = 0; at < chunk.length; at += this.#speaker.pieceBytesMax) {
        const wait = this.#speaker.room()
        if (wait !== null) await wait
        if (this.#isDropped) return
        this.#charactersSent += characters
        characters = 0
        this.#speaker.hand(chunk.subarray(at, at + this.#speaker.pieceBytesMax))
      }
      if (this.#isDropped) return
    }
  }
}
