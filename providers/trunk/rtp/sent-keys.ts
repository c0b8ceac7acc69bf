/**
 * Keys that go out, one after another, each 20 ms at a time: as telephone events (RFC 4733), or as tones in the audio if the other
 * side takes no events. An event lasts five packets; the last one says that it has ended, and is sent three times.
 */
import { keyTone } from '../../../audio/key-tones.ts'
import { eventKeys } from './telephone-events.ts'

const frameSamples = 160
/** 100 ms. */
const keyTicks = 5
const endRepeats = 2
/** 100 ms of silence behind each key. */
const pauseTicks = 5
/** Half a second, the `w` of the tool that presses keys. */
const waitTicks = 25
/** -10 dBm0. */
const volume = 10
const waitingMax = 64

export type EventDue = { isFirst: boolean; sinceStart: number; payload: Buffer }
/** A tone of 20 ms, which is lent. Empty: silence. */
export type ToneDue = { samples: Int16Array }

export class SentKeys {
  #waiting = ''
  /** Those of the first key that waits. */
  #ticks = 0
  #byEvent = true

  /** Characters that are no keys are left out. False: there is no room for all of them, and none is taken. */
  add(digits: string): boolean {
    const keys = [...digits].map((digit) => (digit === 'w' ? digit : digit.toUpperCase()))
    const known = keys.filter((key) => key === 'w' || eventKeys.includes(key)).join('')
    if (this.#waiting.length + known.length > waitingMax) return false
    this.#waiting += known
    return true
  }

  /** To be called each 20 ms. A key that has begun goes on as it is. Null: audio is due. */
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

/** A voice in the pause would hide it from the listener. */
function toneAt(key: string, at: number): ToneDue {
  return { samples: keyTone(key)?.subarray(at * frameSamples, (at + 1) * frameSamples) ?? new Int16Array(0) }
}
