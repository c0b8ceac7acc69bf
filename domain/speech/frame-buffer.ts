/**
 * A queue for frames in one fixed byte ring. Frames stay whole and in order. The first frame allocates the ring, and it
 * never grows.
 *
 *            head                        tail
 *   ┄┄┄┄┄┄┄┄┄┄▼────────────┬──────────────▼┄┄┄┄┄┄┄┄┄┄
 *             │length│bytes│length│bytes  │           a frame may wrap around the end
 *   ┄┄┄┄┄┄┄┄┄┄└────────────┴──────────────┘┄┄┄┄┄┄┄┄┄┄
 */
export class FrameBuffer {
  readonly #bytesMax: number
  #ring: Uint8Array | null = null
  #head = 0
  #used = 0

  /** `bytesMax` limits all stored bytes, including `frameHeaderBytes` for each frame. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get isEmpty(): boolean {
    return this.#used === 0
  }

  fits({ length }: Uint8Array): boolean {
    return this.#used + frameHeaderBytes + length <= this.#bytesMax
  }

  /** Copies the frame, which may be empty. If it does not fit, returns false and keeps nothing. */
  push(frame: Uint8Array): boolean {
    if (!this.fits(frame)) return false
    for (let i = 0; i < frameHeaderBytes; i++) header[i] = frame.length >>> (8 * i)
    this.#write(header)
    this.#write(frame)
    return true
  }

  /** Returns the oldest frame. Its memory is valid until `drop`. Null if the buffer is empty. */
  peek(): Uint8Array | null {
    if (this.#ring === null || this.#used === 0) return null
    const length = this.#lengthAtHead()
    const start = (this.#head + frameHeaderBytes) % this.#bytesMax
    const end = start + length
    if (end <= this.#bytesMax) return this.#ring.subarray(start, end)
    const joined = new Uint8Array(length)
    joined.set(this.#ring.subarray(start))
    joined.set(this.#ring.subarray(0, end - this.#bytesMax), this.#bytesMax - start)
    return joined
  }

  /** Removes the oldest frame. */
  drop(): void {
    if (this.#used === 0) return
    const bytes = frameHeaderBytes + this.#lengthAtHead()
    this.#head = (this.#head + bytes) % this.#bytesMax
    this.#used -= bytes
  }

  #write(bytes: Uint8Array): void {
    this.#ring ??= new Uint8Array(this.#bytesMax)
    const tail = (this.#head + this.#used) % this.#bytesMax
    const free = this.#bytesMax - tail
    if (bytes.length <= free) {
      this.#ring.set(bytes, tail)
    } else {
      this.#ring.set(bytes.subarray(0, free), tail)
      this.#ring.set(bytes.subarray(free), 0)
    }
    this.#used += bytes.length
  }

  #lengthAtHead(): number {
    let length = 0
    for (let i = 0; i < frameHeaderBytes; i++)
      length += (this.#ring?.[(this.#head + i) % this.#bytesMax] ?? 0) * 2 ** (8 * i)
    return length
  }
}

export const frameHeaderBytes = 4
/** All buffers can share one header, because it is filled and copied before any other code can run. */
const header = new Uint8Array(frameHeaderBytes)
