/** Keys that come as telephone events (RFC 4733), each in many packets: the duration grows, and the last ones say that the key is up. */
export const eventKeys = '0123456789*#ABCD'

type EventPacket = { digit: string; timestamp: number; duration: number; isEnd: boolean }
/** The newest packet of the key that was pressed last. */
type Press = EventPacket & { startedAt: number }

/** No key is pressed for less than 40 ms (ITU-T Q.24): a nearer one is a broken packet, or an attack. */
const nearestSamples = 320
/** Packets of one key are 50 ms apart at most, and another press of the key is further away: it follows a pause of 40 ms. */
const packetSamples = 400
/** Two presses of a key begin at least 80 ms apart. */
const pressSamples = 640
/** An event that is up to four seconds older came late. */
const lateSamples = 32_000
/** A longer key is sent in parts, each with a timestamp at the end of the one before it (RFC 4733, section 2.5.1.3). */
const durationMax = 0xffff

/**
 * All packets of a key have one timestamp, the time at which it was pressed. There are devices that raise the timestamp from
 * packet to packet, so a new one alone is no new press: the duration and the end decide.
 */
export class EventReader {
  #press: Press | null = null

  /** Null: the packet belongs to a key that was heard, or to none. */
  read(timestamp: number, payload: Buffer): string | null {
    const digit = payload.length < 4 ? undefined : eventKeys[payload[0]!]
    if (digit === undefined) return null
    const packet = { digit, timestamp, duration: payload.readUInt16BE(2), isEnd: (payload[1]! & 0x80) !== 0 }
    const press = this.#press
    const relation = press === null ? 'another' : relationOf(press, packet)
    if (relation === 'another') this.#press = { ...packet, startedAt: timestamp }
    if (relation === 'same' && press !== null)
      this.#press = { ...packet, isEnd: press.isEnd || packet.isEnd, startedAt: press.startedAt }
    return relation === 'another' ? digit : null
  }

  restart(): void {
    this.#press = null
  }
}

/** `stray`: it is late, or broken. */
function relationOf(press: Press, packet: EventPacket): 'same' | 'another' | 'stray' {
  const since = (packet.timestamp - press.timestamp) | 0
  if (since <= -lateSamples) return 'another'
  const isDigit = packet.digit === press.digit
  if (since < 0) return 'stray'
  if (since === 0 || ((packet.timestamp - press.startedAt) | 0) < nearestSamples) return isDigit ? 'same' : 'stray'
  if (!isDigit) return 'another'
  return (press.isEnd ? isEndAgain : goesOn)(press, packet, since) ? 'same' : 'another'
}

/** The end is sent three times. */
function isEndAgain(press: Press, packet: EventPacket, since: number): boolean {
  return packet.isEnd && since < pressSamples && packet.duration >= press.duration
}

/** Also behind lost packets: then the duration has grown by as much as the timestamp. */
function goesOn(press: Press, { duration }: EventPacket, since: number): boolean {
  const grown = duration - press.duration
  if (since <= packetSamples || (grown > 0 && Math.abs(since - grown) < nearestSamples)) return true
  return press.duration > durationMax - lateSamples && Math.abs(since - press.duration) < nearestSamples
}
