/**
 * Reads DTMF keys from telephone events (RFC 4733). Each key is sent in many packets: the duration grows, and the last
 * packets mark the key's end.
 */
export const eventKeys = '0123456789*#ABCD'

type EventPacket = { digit: string; timestamp: number; duration: number; isEnd: boolean }
/** The last press, with the values from its newest packet. */
type Press = EventPacket & { startedAt: number }

/**
 * 40 ms, in samples. A key lasts at least this long (ITU-T Q.24), so a second key within this time is a broken packet
 * or an attack.
 */
const nearestSamples = 320
/**
 * 50 ms, in samples. One key's packets are at most this far apart. A second press begins later, because a 40 ms pause
 * precedes it.
 */
const packetSamples = 400
/** 80 ms, in samples. Two presses begin at least this far apart. */
const pressSamples = 640
/** Four seconds, in samples. A packet up to this much older than the newest packet is late and ignored. */
const lateSamples = 32_000
/**
 * A key pressed for longer than this is sent in parts. Each part's timestamp is the previous part's end (RFC 4733,
 * section 2.5.1.3).
 */
const durationMax = 0xffff

/**
 * Turns event packets into presses. All packets for one key have the same timestamp: the time when the key was pressed.
 * Some devices increase the timestamp with each packet, so a new timestamp alone does not mean a new press. Then the
 * duration and the end mark decide.
 */
export class EventReader {
  #press: Press | null = null

  /** Returns a new press's key, or null if the packet belongs to an earlier press or to no key. */
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

/** Compares the packet with the last press. `stray`: the packet is late or broken. */
function relationOf(press: Press, packet: EventPacket): 'same' | 'another' | 'stray' {
  const since = (packet.timestamp - press.timestamp) | 0
  if (since <= -lateSamples) return 'another'
  const isDigit = packet.digit === press.digit
  if (since < 0) return 'stray'
  if (since === 0 || ((packet.timestamp - press.startedAt) | 0) < nearestSamples) return isDigit ? 'same' : 'stray'
  if (!isDigit) return 'another'
  return (press.isEnd ? isEndAgain : goesOn)(press, packet, since) ? 'same' : 'another'
}

/** True if the packet repeats the key's end, because the end is sent three times. */
function isEndAgain(press: Press, packet: EventPacket, since: number): boolean {
  return packet.isEnd && since < pressSamples && packet.duration >= press.duration
}

/**
 * True if the packet continues the press, also after lost packets: the duration has then grown as much as the
 * timestamp.
 */
function goesOn(press: Press, { duration }: EventPacket, since: number): boolean {
  const grown = duration - press.duration
  if (since <= packetSamples || (grown > 0 && Math.abs(since - grown) < nearestSamples)) return true
  return press.duration > durationMax - lateSamples && Math.abs(since - press.duration) < nearestSamples
}
