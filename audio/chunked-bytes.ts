/**
 * Random access over a body in chunks. An upload may be 100 MiB and only its headers are read, so the chunks are never
 * joined: `view` copies a few bytes, and only if they straddle two chunks.
 */
export class ChunkedBytes {
  readonly length: number
  readonly #chunks: readonly Uint8Array[]
  readonly #starts: Float64Array
  /** The index and start offset for the chunk read last. Most reads go forward, so the search begins here. */
  #last = 0
  #chunk: Uint8Array
  #start = 0

  constructor(chunks: readonly Uint8Array[]) {
    const starts = new Float64Array(chunks.length)
    let length = 0
    for (let at = 0; at < chunks.length; at++) {
      starts[at] = length
      length += chunks[at]!.length
    }
    this.#chunks = chunks
    this.#starts = starts
    this.#chunk = chunks[0] ?? new Uint8Array(0)
    this.length = length
  }

  /**
   * Returns the byte, or undefined after the body's end. Use this method for many small fields, because each `view`
   * call creates an object.
   */
  byteAt(offset: number): number | undefined {
    const from = offset - this.#start
    if (from >= 0 && from < this.#chunk.length) return this.#chunk[from]
    if (offset >= this.length) return undefined
    this.#find(offset)
    return this.#chunk[offset - this.#start]
  }

  /**
   * Returns up to `count` bytes from `offset`, fewer at the end. The returned bytes may share the body's memory, so
   * they must not be changed.
   */
  view(offset: number, count: number): Uint8Array {
    const end = Math.min(offset + count, this.length)
    if (offset >= end) return new Uint8Array(0)
    this.#find(offset)
    const from = offset - this.#start
    if (from + (end - offset) <= this.#chunk.length) return this.#chunk.subarray(from, from + (end - offset))
    return this.#join(offset, end)
  }

  /** Yields the bytes from `start` to `end` in order, in pieces of at most `pieceBytesMax`, without a copy. */
  *pieces(start: number, end: number, pieceBytesMax: number): Generator<Uint8Array> {
    if (start >= end || start >= this.length) return
    for (let i = this.#find(start); i < this.#chunks.length && this.#starts[i]! < end; i++) {
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
    const at = chunkAt(this.#starts, offset, this.#last)
    this.#last = at
    this.#chunk = this.#chunks[at]!
    this.#start = this.#starts[at]!
    return at
  }
}

/**
 * Finds the last chunk that starts at or before `offset`. The search widens from `near`, because most reads are close
 * to the previous read. A body may have millions of chunks, so a linear search would take too long.
 */
export function chunkAt(starts: ArrayLike<number>, offset: number, near: number): number {
  let low = near
  let high = near
  let span = 1
  if (starts[near]! <= offset) {
    while (low + span < starts.length && starts[low + span]! <= offset) {
      low += span
      span *= 2
    }
    high = Math.min(low + span, starts.length)
  } else {
    while (high > span && starts[high - span]! > offset) {
      high -= span
      span *= 2
    }
    low = Math.max(high - span, 0)
  }
  // The chunk with `offset` is at index `low` or later, and before `high`.
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= offset) low = middle
    else high = middle
  }
  return low
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
