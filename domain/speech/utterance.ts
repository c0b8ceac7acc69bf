import type { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { isSpeakable, SentenceBuffer } from './sentence-buffer.ts'
import { charactersOf } from './spoken-form.ts'

/** A sentence that a provider was asked to speak. `opening` resolves with its first audio. */
export type SpokenSentence = {
  sentence: string
  signal: AttemptSignal
  opening: Promise<AsyncIterable<Uint8Array>>
  /** 0 until the sentence was sent. */
  billed: { characters: number }
}

/** The stream that an utterance is spoken in. */
export interface Speaker {
  /** Sends the sentence. Called in the order of the text, and only when the sentence before it has opened. */
  speak(sentence: string): SpokenSentence
  /** The most audio that is handed over at once. Audio that was handed over cannot be dropped any more. */
  readonly pieceBytesMax: number
  /** Resolves when the sink takes audio again. Null: it takes audio now. */
  pause(): Promise<void> | null
  hand(audio: Uint8Array): void
  /** All complete sentences were spoken. */
  silent(): void
  failed(error: unknown, spoken: SpokenSentence | null): void
}

/**
 * The text between two clears. While one sentence is handed over, the next is requested already, up to its first audio;
 * the rest of its audio waits at the provider.
 *
 *   text ─► buffer ─► queue ─► next ─► current ─► sink
 */
export class Utterance {
  readonly #speaker: Speaker
  readonly #buffer = new SentenceBuffer()
  #queue: string[] = []
  #queuedLength = 0
  #next: SpokenSentence | null = null
  #current: SpokenSentence | null = null
  #isReady: boolean
  #isSpeaking = false
  #isDropped = false
  #charactersSent = 0

  /** `isReady`: a provider was chosen. */
  constructor(speaker: Speaker, isReady: boolean) {
    this.#speaker = speaker
    this.#isReady = isReady
  }

  /** UTF-16 units of text that were not sent to a provider yet. */
  get waiting(): number {
    return this.#queuedLength + this.#buffer.length
  }

  get isSilent(): boolean {
    return !this.#isSpeaking && this.#queue.length === 0
  }

  /** A provider was chosen. */
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

  /** No more audio is handed over. Answers the characters of the sentences whose audio had begun. */
  drop(): number {
    this.#isDropped = true
    for (const spoken of [this.#current, this.#next]) spoken?.signal.end(new ProviderError('cancelled', { sent: true }))
    return this.#charactersSent
  }

  #enqueue(sentence: string): void {
    if (sentence === '') return
    this.#queue.push(sentence)
    this.#queuedLength += sentence.length
  }

  #proceed(): void {
    if (!this.#isReady || this.#isDropped) return
    if (this.#isSpeaking) this.#requestNext()
    else void this.#speak()
  }

  async #speak(): Promise<void> {
    this.#isSpeaking = true
    try {
      for (this.#requestNext(); this.#next !== null; this.#requestNext()) {
        this.#current = this.#next
        const audio = await this.#current.opening
        this.#next = null
        if (this.#isDropped) return
        this.#requestNext()
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

  #requestNext(): void {
    if (this.#next !== null) return
    for (let sentence = this.#dequeue(); sentence !== undefined; sentence = this.#dequeue()) {
      if (isSpeakable(sentence)) {
        this.#next = this.#speaker.speak(sentence)
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
        const pause = this.#speaker.pause()
        if (pause !== null) await pause
        if (this.#isDropped) return
        this.#charactersSent += characters
        characters = 0
        this.#speaker.hand(chunk.subarray(at, at + this.#speaker.pieceBytesMax))
      }
      if (this.#isDropped) return
    }
  }
}
