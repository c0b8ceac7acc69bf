/**
 * Packets of a compressed stream on their way to a speech engine. A piece is one message and holds whole packets, each behind its length
 * in two bytes.
 */

const lengthBytes = 2

/** A packet lasts up to 120 ms in two bytes, so the size of a piece alone does not limit its sound: these are a minute. */
const piecePacketsMax = 500

/**
 * No piece is larger than `pieceBytesMax`, unless one packet alone is, nor has it more than `piecePacketsMax` packets. An empty packet ends a piece, which can be empty, because the
 * source wants a pause there.
 */
export function* packetPieces(packets: Iterable<Uint8Array>, pieceBytesMax: number): Generator<Uint8Array> {
  let held: Uint8Array[] = []
  let bytes = 0
  for (const packet of packets) {
    const size = lengthBytes + packet.length
    const isPause = packet.length === 0
    const isFull = bytes + size > pieceBytesMax || held.length >= piecePacketsMax
    if (isPause || (bytes > 0 && isFull)) {
      yield pieceOf(held, bytes)
      held = []
      bytes = 0
    }
    if (isPause) continue
    held.push(packet)
    bytes += size
  }
  if (bytes > 0) yield pieceOf(held, bytes)
}

function pieceOf(packets: readonly Uint8Array[], bytes: number): Uint8Array {
  const piece = new Uint8Array(bytes)
  let at = 0
  for (const packet of packets) {
    piece[at] = packet.length & 0xff
    piece[at + 1] = packet.length >> 8
    piece.set(packet, at + lengthBytes)
    at += lengthBytes + packet.length
  }
  return piece
}

/** The packets of a piece. They share its memory. */
export function packetsIn(piece: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = []
  for (let at = 0; at + lengthBytes <= piece.length; ) {
    const from = at + lengthBytes
    at = from + (piece[at]! | (piece[at + 1]! << 8))
    packets.push(piece.subarray(from, at))
  }
  return packets
}
