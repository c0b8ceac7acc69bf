/**
 * Sends frames to the client. It also calculates the time of the next frame, mixes background sounds into each frame,
 * and counts the `clear` messages that the client has not answered. A `clear` makes the client drop its buffered audio.
 */
import { frameMs, type MediaTransport } from '../../ports/media.ts'

export type BackgroundSound = 'ambient' | 'toolSound'
/** A sound in the background. `mixInto` adds the sound's next samples to a frame. */
export type Sound = { mixInto(samples: Int16Array): void }
/** The people who have joined. They get each frame, and their voices are added to it. */
export type Exchange = { exchange(frame: Int16Array): void; cleared(): void }

export class MediaLine {
  /** Holds the next frame to send. Fill it, then call `send`. */
  readonly frame: Int16Array
  readonly #sent: (samples: Int16Array) => void
  #media: MediaTransport | null
  #dueMs = 0
  #ambient: Sound | null = null
  #toolSound: Sound | null = null
  #people: Exchange | null = null
  #clears = 0
  /** The last mark sent since the last `clear` message. */
  #marked = ''

  /** `sent` is called with each frame. The frame's buffer may be reused after the function returns. */
  constructor(media: MediaTransport, sent: (samples: Int16Array) => void) {
    this.#media = media
    this.#sent = sent
    this.frame = new Int16Array((media.sampleRateHz / 1000) * frameMs)
  }

  /** Returns false if the socket is lost. */
  get isOpen(): boolean {
    return this.#media !== null
  }

  /** Returns the time at which the next frame is due for playout without a gap. */
  get dueMs(): number {
    return this.#dueMs
  }

  get hasBackground(): boolean {
    return this.#ambient !== null || this.#toolSound !== null || this.#people !== null
  }

  /** Sends to another socket from now on. Null if the socket is lost. */
  use(media: MediaTransport | null, nowMs: number): void {
    this.#media = media
    this.#clears = 0
    this.#marked = ''
    this.#dueMs = nowMs
  }

  /** Connects the people who have joined. Null if no person has joined. */
  connect(people: Exchange | null): void {
    this.#people = people
  }

  background(sound: BackgroundSound, clip: Sound | null): void {
    if (sound === 'ambient') this.#ambient = clip
    else this.#toolSound = clip
  }

  /** Restarts the client's timeline with the next frame if the client has played all audio. */
  catchUp(nowMs: number): void {
    if (this.#dueMs < nowMs) this.#dueMs = nowMs
  }

  send(): void {
    this.#ambient?.mixInto(this.frame)
    this.#toolSound?.mixInto(this.frame)
    this.#people?.exchange(this.frame)
    this.#media?.frame(this.frame)
    this.#sent(this.frame)
    this.#dueMs += frameMs
  }

  /** Sends a mark. A mark equal to the last mark is not sent again. */
  mark(name: string): void {
    if (name !== this.#marked) this.#media?.mark(name)
    this.#marked = name
  }

  clear(nowMs: number): void {
    if (this.#media === null) return
    this.#clears += 1
    this.#marked = ''
    this.#dueMs = nowMs
    this.#people?.cleared()
    this.#media.clear()
  }

  /**
   * Handles the client's answer to a `clear`. Returns true if no other `clear` is unanswered, because only the last
   * answer gives the client's current position.
   */
  answered(): boolean {
    this.#clears = Math.max(0, this.#clears - 1)
    return this.#clears === 0
  }
}
