/** Cuts an Ogg stream that comes in chunks of any length into its pages (RFC 3533, 6). */
import { ascii } from './chunked-bytes.ts'
import { AudioError } from './error.ts'

const pageHeaderBytes = 27

export class OggPages {
  #rest: Uint8Array = new Uint8Array(0);

  /** The pages that `chunk` completes. They may share its memory. Throws AudioError `damaged`. */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let page = this.#next(); page !== null; page = this.#next()) yield page
  }

  /** The next whole page, removed from the rest; null where it has not come yet. */
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

/** The sizes of the page's segments. */
export function segmentSizes(page: Uint8Array): Uint8Array {
  return page.subarray(pageHeaderBytes, pageHeaderBytes + page[26]!)
}

/** Whether it is the first page of a logical stream. */
export function beginsStream(page: Uint8Array): boolean {
  return (page[5]! & 2) !== 0
}

/** Whether it is the last page of a logical stream. */
export function endsStream(page: Uint8Array): boolean {
  return (page[5]! & 4) !== 0
}
