/**
 * Sends DTMF keys one after another, in 20 ms steps. Keys are sent as telephone events (RFC 4733), or as tones in the
 * audio if the other side does not support events. An event lasts five packets. The last packet marks the end and is
 * sent three times.
 */
import { keyTone } from '../../../audio/key-tones.ts'
import { eventKeys } from './telephone-events.ts'

const frameSamples = 160
/** A key's length in ticks: 100 ms. */
const keyTicks = 5
const endRepeats = 2
/** The silence after each key in ticks: 100 ms. */
const pauseTicks = 5
/** The pause for the character `w` in ticks: half a second. */
const waitTicks = 25
/** A telephone event's power level: -10 dBm0. */
const volume = 10
const waitingMax = 64

export type EventDue = { isFirst: boolean; sinceStart: number; payload: Buffer }
/** 20 ms from a cached tone. The samples must not be changed. Empty for silence. */
export type ToneDue = { samples: Int16Array }

export class SentKeys {
  #waiting = ''
  /** How many ticks of the first waiting key were already sent. */
  #ticks = 0
  #byEvent = true

  /**
   * Adds the keys and ignores other characters. Returns false and adds nothing if the queue has no room for all keys.
   */
  add(digits: string): boolean {
    const keys = [...digits].map((digit) => (digit === 'w' ? digit : digit.toUpperCase()))
    const validKeys = keys.filter((key) => key === 'w' || eventKeys.includes(key)).join('')
    if (this.#waiting.length + validKeys.length > waitingMax) return false
    this.#waiting += validKeys
    return true
  }

  /**
   * Returns the next step. To be called every 20 ms. A key is sent completely as an event or completely as a tone.
   * Returns null if no key is due, so audio can be sent.
   */
  next(takesEvents: boolean): EventDue | ToneDue | null {
    const key = this.#waiting[0]
    if (key === undefined) return null
    if (this.#ticks === 0) this.#byEvent = takesEvents
    const at = this.#ticks++
    if (this.#ticks >= this.#ticksOf(key)) {
      this.#ticks = 0
      this.#waiting = this.#waiting.slice(1)
    }
    if (key === 'w') return null
    return this.#byEvent ? eventAt(key, at) : toneAt(key, at)
  }

  #ticksOf(key: string): number {
    if (key === 'w') return waitTicks
    return keyTicks + pauseTicks + (this.#byEvent ? endRepeats : 0)
  }
}

function eventAt(key: string, at: number): EventDue | null {
  if (at >= keyTicks + endRepeats) return null
  const count = Math.min(at + 1, keyTicks)
  const payload = Buffer.from([eventKeys.indexOf(key), count === keyTicks ? volume | 0x80 : volume, 0, 0])
  payload.writeUInt16BE(count * frameSamples, 2)
  return { isFirst: at === 0, sinceStart: at * frameSamples, payload }
}

/**
 * Returns the key's tone or pause for 20 ms. The pause is silent, because a voice could hide the key from the
 * receiver's detector.
 */
function toneAt(key: string, at: number): ToneDue {
  return { samples: keyTone(key)?.subarray(at * frameSamples, (at + 1) * frameSamples) ?? new Int16Array(0) }
}
