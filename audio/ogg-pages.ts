/** Cuts an Ogg stream into its pages (RFC 3533, 6). The stream's chunks may have any length. */
import { ascii } from './chunked-bytes.ts'
import { AudioError } from './error.ts'

const pageHeaderBytes = 27

export class OggPages {
  #rest: Uint8Array = new Uint8Array(0);

  /** Yields the pages completed by `chunk`. They may share its memory. Throws AudioError `damaged`. */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let page = this.#next(); page !== null; page = this.#next()) yield page
  }

  /** Removes the next page from the unread bytes and returns it. Returns null if the page is not complete. */
  #next(): Uint8Array | null {
    const rest = this.#rest
    if (rest.length < pageHeaderBytes) return null
    if (ascii(rest, 0, 4) !== 'OggS') throw new AudioError('damaged', 'The audio is not Ogg.')
    const bodyAt = pageHeaderBytes + rest[26]!
    if (rest.length < bodyAt) return null
    const end = rest.subarray(pageHeaderBytes, bodyAt).reduce((sum, size) => sum + size, bodyAt)
    if (rest.length < end) return null
    this.#rest = rest.subarray(end)
    return rest.subarray(0, end)
  }
}

export function segmentSizes(page: Uint8Array): Uint8Array {
  return page.subarray(pageHeaderBytes, pageHeaderBytes + page[26]!)
}

/** Returns true if the page is the first in a logical stream. */
export function beginsStream(page: Uint8Array): boolean {
  return (page[5]! & 2) !== 0
}

/** Returns true if the page is the last in a logical stream. */
export function endsStream(page: Uint8Array): boolean {
  return (page[5]! & 4) !== 0
}
