/**
 * Reads Opus packets from an Ogg stream with chunks of any length (RFC 3533, 6; RFC 7845, 3). A packet may continue
 * over several pages:
 *
 *   page    [header│255 255 40 12│······data······]  [header│255 3│···]
 *   packets         └── 550 ──┘ └12┘                         └258┘
 *
 * The first two packets are headers. Another logical stream may follow (RFC 3533: "chained"), with its own two headers.
 */
import { AudioError } from './error.ts'
import { beginsStream, OggPages, segmentSizes } from './ogg-pages.ts'

/**
 * Limits a packet. A speech packet has 61,298 bytes at most (RFC 6716, 3.2.5 and 3.4), and usual headers are far
 * shorter.
 */
const packetBytesMax = 128 * 1024

/** Yields speech packets. Throws AudioError `damaged`. */
export async function* opusPackets(audio: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new PacketReader()
  for await (const chunk of audio) yield* reader.push(chunk)
}

class PacketReader {
  readonly #pages = new OggPages()
  /** The current packet's parts so far. */
  #parts: Uint8Array[] = []
  #partBytes = 0
  #headersLeft = 2

  push(chunk: Uint8Array): Uint8Array[] {
    const packets: Uint8Array[] = []
    for (const page of this.#pages.push(chunk)) this.#packetsOf(page, packets)
    return packets
  }

  #packetsOf(page: Uint8Array, packets: Uint8Array[]): void {
    if (beginsStream(page)) this.#headersLeft = 2
    const sizes = segmentSizes(page)
    let at = sizes.byteOffset - page.byteOffset + sizes.length
    for (const size of sizes) {
      this.#add(page.subarray(at, at + size))
      at += size
      if (size === 255) continue
      const packet = this.#take()
      if (this.#headersLeft > 0) this.#headersLeft -= 1
      else if (packet.length > 0) packets.push(packet)
    }
  }

  #add(part: Uint8Array): void {
    this.#partBytes += part.length
    if (this.#partBytes > packetBytesMax) throw new AudioError('damaged', 'A packet of Opus is too long.')
    this.#parts.push(part)
  }

  #take(): Uint8Array {
    const [first] = this.#parts
    const packet = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#partBytes = 0
    return packet
  }
}
