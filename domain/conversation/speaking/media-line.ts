/**
 * The frames on their way to the client: when the next one is due, which sounds are mixed into all of them, and which
 * clears have not been answered.
 */
import { frameMs, type MediaTransport } from '../../ports/media.ts'

export type BackgroundSound = 'ambient' | 'toolSound'
/** Something that adds its next samples to a frame. */
export type Sound = { mixInto(samples: Int16Array): void }
/** The people who have joined: they get each frame, and their voices are added to it. */
export type Exchange = { exchange(frame: Int16Array): void; cleared(): void }

export class MediaLine {
  /** The next frame. */
  readonly frame: Int16Array
  readonly #sent: (samples: Int16Array) => void
  #media: MediaTransport | null
  #dueMs = 0
  #ambient: Sound | null = null
  #toolSound: Sound | null = null
  #people: Exchange | null = null
  #clears = 0
  /** The mark that was sent last, and was not cleared. */
  #marked = ''

  /** `sent` is called with each frame, which is lent until it returns. */
  constructor(media: MediaTransport, sent: (samples: Int16Array) => void) {
    this.#media = media
    this.#sent = sent
    this.frame = new Int16Array((media.sampleRateHz / 1000) * frameMs)
  }

  /** False: the socket is lost. */
  get isOpen(): boolean {
    return this.#media !== null
  }

  /** When the next frame will be played, if the client plays without a gap. */
  get dueMs(): number {
    return this.#dueMs
  }

  get hasBackground(): boolean {
    return this.#ambient !== null || this.#toolSound !== null || this.#people !== null
  }

  /** Null: the socket is lost. */
  use(media: MediaTransport | null, nowMs: number): void {
    this.#media = media
    this.#clears = 0
    this.#marked = ''
    this.#dueMs = nowMs
  }

  /** Null: nobody has joined. */
  connect(people: Exchange | null): void {
    this.#people = people
  }

  background(sound: BackgroundSound, clip: Sound | null): void {
    if (sound === 'ambient') this.#ambient = clip
    else this.#toolSound = clip
  }

  /** A client that has run dry begins anew with the next frame. */
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

  /** The same mark twice in a row is sent once. */
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

  /** A clear was answered. True: it was the last one, so the answer says how far the client is now. */
  answered(): boolean {
    this.#clears = Math.max(0, this.#clears - 1)
    return this.#clears === 0
  }
}
