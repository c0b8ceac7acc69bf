/** How many bytes of request bodies may be in memory at a time, over all requests. */
export class UploadMemory {
  readonly #bytesMax: number
  #held = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get freeBytes(): number {
    return this.#bytesMax - this.#held
  }

  /** False, and nothing held, when there is no room. */
  hold(bytes: number): boolean {
    if (bytes > this.freeBytes) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}
