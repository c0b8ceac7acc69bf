/**
 * Packs compressed packets into messages to a speech engine process. A piece is one message with whole packets. Each
 * packet is preceded by its length in two bytes.
 */

const lengthBytes = 2

/**
 * The maximum number of packets in a piece, so that a piece lasts at most one minute. A packet with two bytes can
 * contain 120 ms, so a size limit alone does not limit a piece's duration.
 */
const piecePacketsMax = 500

/**
 * Joins packets to pieces. No piece is larger than `pieceBytesMax`, unless one packet alone is larger, and no piece has
 * more than `piecePacketsMax` packets. An empty packet ends the piece, because with an empty packet the source lets
 * other work run before it reads on. Such a piece can be empty.
 */
export function* packetPieces(packets: Iterable<Uint8Array>, pieceBytesMax: number): Generator<Uint8Array> {
  let pending: Uint8Array[] = []
  let bytes = 0
  for (const packet of packets) {
    const size = lengthBytes + packet.length
    const isPause = packet.length === 0
    const isFull = bytes + size > pieceBytesMax || pending.length >= piecePacketsMax
    if (isPause || (bytes > 0 && isFull)) {
      yield pieceOf(pending, bytes)
      pending = []
      bytes = 0
    }
    if (isPause) continue
    pending.push(packet)
    bytes += size
  }
  if (bytes > 0) yield pieceOf(pending, bytes)
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

/** Returns a piece's packets. They share the piece's memory. */
export function packetsIn(piece: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = []
  for (let at = 0; at + lengthBytes <= piece.length; ) {
    const from = at + lengthBytes
    at = from + (piece[at]! | (piece[at + 1]! << 8))
    packets.push(piece.subarray(from, at))
  }
  return packets
}
