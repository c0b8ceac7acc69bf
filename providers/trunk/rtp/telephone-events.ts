/**
 * Keys as telephone events (RFC 4733). A key that comes is heard at its first packet, and its other packets have the same
 * timestamp. A key that goes out lasts five packets; the last one says that it has ended, and is sent three times.
 */
const keys = '0123456789*#ABCD'
/** No key is pressed for less than 40 ms (ITU-T Q.24): a nearer one is a broken packet, or an attack. */
const nearestSamples = 320

export class EventReader {
  #last: number | null = null

  /** Null: the packet belongs to a key that was heard, or to none. */
  read(timestamp: number, payload: Buffer): string | null {
    const key = payload.length < 4 ? undefined : keys[payload[0]!]
    if (key === undefined) return null
    if (this.#last !== null) {
      const since = (timestamp - this.#last) | 0
      if (since >= 0 ? since < nearestSamples : since > -lateSamples) return null
    }
    this.#last = timestamp
    return key
  }

  restart(): void {
    this.#last = null
  }
}

/** An event that is up to four seconds older came late. */
const lateSamples = 32_000

const frameSamples = 160
const keyPackets = 5
const endRepeats = 2
/** 100 ms of silence behind each key. */
const pausePackets = 5
/** -10 dBm0. */
const volume = 10
const waitingMax = 64

export type EventPacket = { isFirst: boolean; sinceStart: number; payload: Buffer }

export class EventWriter {
  #waiting = ''
  #packets = 0

  /** Other characters are left out, and so are those behind the 64th that waits. */
  add(digits: string): void {
    const known = [...digits.toUpperCase()].filter((digit) => keys.includes(digit)).join('')
    this.#waiting = `${this.#waiting}${known}`.slice(0, waitingMax)
  }

  /** One is due each 20 ms, in the place of audio. Null: audio is due. */
  next(): EventPacket | null {
    if (this.#waiting === '') return null
    const at = this.#packets++
    if (at >= keyPackets + endRepeats) {
      if (at + 1 < keyPackets + endRepeats + pausePackets) return null
      this.#packets = 0
      this.#waiting = this.#waiting.slice(1)
      return null
    }
    const count = Math.min(at + 1, keyPackets)
    const payload = Buffer.from([keys.indexOf(this.#waiting[0]!), volume, 0, 0])
    if (count === keyPackets) payload[1] = volume | 0x80
    payload.writeUInt16BE(count * frameSamples, 2)
    return { isFirst: at === 0, sinceStart: at * frameSamples, payload }
  }
}
