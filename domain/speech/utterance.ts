import type { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { WordEnd } from '../ports/tts.ts'
import { charactersOf } from './characters.ts'
import { isSpeakable, SentenceBuffer } from './sentence-buffer.ts'

/** A sentence sent to a provider for speech. `opening` resolves with its first audio. */
export type SpokenSentence = {
  /** Cancels the sentence. A failover replaces the signal. */
  signal: AttemptSignal
  opening: Promise<AsyncIterable<Uint8Array>>
  /** The number of characters sent to the provider, or 0 before the request. */
  billedCharacters: number
  /** The word ends reported so far. The list grows while the audio arrives, and a failover replaces it. */
  ends: WordEnd[]
}

/**
 * A requested sentence. `from` is the sentence's start in the text. After its audio was handed over, `characters` more
 * characters count as handed over.
 */
type Queued = { spoken: SpokenSentence; from: number; characters: number }

/** The methods and fields of a stream that an utterance uses. */
export interface Speaker {
  /** Sends the sentence to the provider. Called in text order, and only when the sentence before it has opened. */
  speak(sentence: string): SpokenSentence
  /**
   * The maximum amount of audio handed over at once. It is small, because handed-over audio cannot be dropped any more.
   */
  readonly pieceBytesMax: number
  /** Resolves when the sink accepts audio again. Null if the sink accepts audio now. */
  pause(): Promise<void> | null
  /** Called before the audio that speaks the text from this position on. */
  speaking(from: number, ends: readonly WordEnd[]): void
  hand(audio: Uint8Array): void
  /** Called when the speech for this many further characters was handed over. */
  handedOver(characters: number): void
  /** Called when all complete sentences were spoken. */
  silent(): void
  failed(error: unknown, spoken: SpokenSentence | null): void
}

/**
 * Speaks the text from one `clear` to the next. While one sentence is handed over, the next sentence is already
 * requested, up to its first audio. The rest of the audio waits at the provider.
 *
 *   text ─► buffer ─► queue ─► next ─► current ─► sink
 */
export class Utterance {
  readonly #speaker: Speaker
  readonly #buffer = new SentenceBuffer({ wholePieces: true })
  #queue: string[] = []
  #queuedCharacters = 0
  /** The number of characters without speech before the next sentence. */
  #skippedCharacters = 0
  /** The number of UTF-16 code units taken from the queue. */
  #dequeued = 0
  #next: Queued | null = null
  #current: Queued | null = null
  #isReady: boolean
  #isSpeaking = false
  #isDropped = false

  /** `isReady` is true if a provider was chosen. */
  constructor(speaker: Speaker, isReady: boolean) {
    this.#speaker = speaker
    this.#isReady = isReady
  }

  /** Counts the characters not yet sent to a provider. */
  get waitingCharacters(): number {
    return this.#queuedCharacters + this.#buffer.characters
  }

  get isSilent(): boolean {
    return !this.#isSpeaking && this.#queue.length === 0
  }

  /** Call this when a provider was chosen, so that sentences are sent. */
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

  /** Stops handing over audio and cancels the current sentences. */
  drop(): void {
    this.#isDropped = true
    for (const queued of [this.#current, this.#next])
      queued?.spoken.signal.end(new ProviderError('cancelled', { sent: true }))
  }

  get isDropped(): boolean {
    return this.#isDropped
  }

  #enqueue(sentence: string): void {
    if (sentence === '') return
    this.#queue.push(sentence)
    this.#queuedCharacters += charactersOf(sentence)
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
        const audio = await this.#current.spoken.opening
        this.#next = null
        if (this.#isDropped) return
        this.#requestNext()
        this.#speaker.speaking(this.#current.from, this.#current.spoken.ends)
        await this.#play(audio)
        if (this.#isDropped) return
        this.#current.spoken.signal.close()
        this.#speaker.handedOver(this.#current.characters)
        this.#current = null
      }
      this.#isSpeaking = false
      this.#speaker.handedOver(this.#takeSkipped())
      this.#speaker.silent()
    } catch (error) {
      if (!this.#isDropped) this.#speaker.failed(error, this.#current?.spoken ?? null)
    }
  }

  #requestNext(): void {
    if (this.#next !== null) return
    for (let sentence = this.#dequeue(); sentence !== undefined; sentence = this.#dequeue()) {
      if (isSpeakable(sentence)) {
        const from = this.#dequeued - sentence.trimStart().length
        const spoken = this.#speaker.speak(sentence.trim())
        this.#next = { spoken, from, characters: this.#takeSkipped() + charactersOf(sentence) }
        return
      }
      this.#skippedCharacters += charactersOf(sentence)
    }
  }

  #takeSkipped(): number {
    const characters = this.#skippedCharacters
    this.#skippedCharacters = 0
    return characters
  }

  #dequeue(): string | undefined {
    const sentence = this.#queue.shift()
    this.#queuedCharacters -= charactersOf(sentence ?? '')
    this.#dequeued += sentence?.length ?? 0
    return sentence
  }

  async #play(audio: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of audio) {
      for (let at = 0; at < chunk.length; at += this.#speaker.pieceBytesMax) {
        const pause = this.#speaker.pause()
        if (pause !== null) await pause
        if (this.#isDropped) return
        this.#speaker.hand(chunk.subarray(at, at + this.#speaker.pieceBytesMax))
      }
      if (this.#isDropped) return
    }
  }
}
