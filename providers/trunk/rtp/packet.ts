/** RTP packets (RFC 3550, section 5.1). */
export type RtpPacket = {
  payloadType: number
  hasMarker: boolean
  sequence: number
  timestamp: number
  ssrc: number
  /** The payload. It shares memory with the datagram. */
  payload: Buffer
}

const headBytes = 12

/** Reads a packet. Returns null if the datagram is not an RTP packet. */
export function readPacket(datagram: Buffer): RtpPacket | null {
  if (datagram.length < headBytes || datagram[0]! >> 6 !== 2) return null
  const [first, second] = [datagram[0]!, datagram[1]!]
  let from = headBytes + 4 * (first & 0x0f)
  if ((first & 0x10) !== 0) {
    if (from + 4 > datagram.length) return null
    from += 4 + 4 * datagram.readUInt16BE(from + 2)
  }
  const padding = (first & 0x20) === 0 ? 0 : datagram[datagram.length - 1]!
  const to = datagram.length - padding
  if (from > to || ((first & 0x20) !== 0 && padding === 0)) return null
  return {
    payloadType: second & 0x7f,
    hasMarker: (second & 0x80) !== 0,
    sequence: datagram.readUInt16BE(2),
    timestamp: datagram.readUInt32BE(4),
    ssrc: datagram.readUInt32BE(8),
    payload: datagram.subarray(from, to),
  }
}

export function writePacket({ payloadType, hasMarker, sequence, timestamp, ssrc, payload }: RtpPacket): Buffer {
  const packet = Buffer.allocUnsafe(headBytes + payload.length)
  packet[0] = 0x80
  packet[1] = payloadType | (hasMarker ? 0x80 : 0)
  packet.writeUInt16BE(sequence & 0xffff, 2)
  packet.writeUInt32BE(timestamp >>> 0, 4)
  packet.writeUInt32BE(ssrc, 8)
  packet.set(payload, headBytes)
  return packet
}
