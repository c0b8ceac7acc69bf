/**
 * Random access over a body that arrived in chunks. An upload may be 100 MiB and only its headers are read, so the
 * chunks are never joined: `view` copies a few bytes, and only where they straddle two chunks.
 */
export class ChunkedBytes {
  readonly length: number
  readonly #chunks: readonly Uint8Array[]
  readonly #starts: readonly number[]
  /** The chunk that was read last. Most reads go forward, so the search begins here. */
  #last = 0

  constructor(chunks: readonly Uint8Array[]) {
    const starts: number[] = []
    let length = 0
    for (const chunk of chunks) {
      starts.push(length)
      length += chunk.length
    }
    this.#chunks = chunks
    this.#starts = starts
    this.length = length
  }

  /** Up to `count` bytes from `offset`; fewer at the end. They may share memory with the body and must not be written. */
  view(offset: number, count: number): Uint8Array {
    const end = Math.min(offset + count, this.length)
    if (offset >= end) return new Uint8Array(0)
    const at = this.#find(offset)
    const chunk = this.#chunks[at]!
    const from = offset - this.#starts[at]!
    if (from + (end - offset) <= chunk.length) return chunk.subarray(from, from + (end - offset))
    return this.#join(offset, end)
  }

  /** The bytes from `start` to `end` in order, in pieces of at most `pieceBytesMax`, without a copy. */
  *pieces(start: number, end: number, pieceBytesMax: number): Generator<Uint8Array> {
    for (let i = 0; i < this.#chunks.length; i++) {
      const chunk = this.#chunks[i]!
      const chunkStart = this.#starts[i]!
      const to = Math.min(end - chunkStart, chunk.length)
      for (let from = Math.max(start - chunkStart, 0); from < to; from += pieceBytesMax) {
        yield chunk.subarray(from, Math.min(from + pieceBytesMax, to))
      }
    }
  }

  #join(offset: number, end: number): Uint8Array {
    const joined = new Uint8Array(end - offset)
    let at = 0
    for (const piece of this.pieces(offset, end, end - offset)) {
      joined.set(piece, at)
      at += piece.length
    }
    return joined
  }

  #find(offset: number): number {
    let at = this.#last
    if (this.#starts[at]! > offset) at = 0
    while (at + 1 < this.#starts.length && this.#starts[at + 1]! <= offset) at++
    this.#last = at
    return at
  }
}

export function u16le(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8)
}

export function u32le(bytes: Uint8Array, at: number): number {
  return (u16le(bytes, at) | (u16le(bytes, at + 2) << 16)) >>> 0
}

export function ascii(bytes: Uint8Array, at: number, count: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + count))
}
