/**
 * Reads the messages between the stages in Pico's engine, because Pico reports no word times. Each stage writes items
 * into a ring in memory, and the next stage reads them:
 *
 *   text → tok → pr → wa → sa → acph → spho → pam → cep → sig → samples
 *                 │           │      │      │
 *                 words as    │      │      sounds with their durations
 *                 spelled     │      syllables, and bounds between words
 *                             words as spoken, without sounds if silent
 *
 * An item has a type, two bytes of information, its length and its content. The layouts come from `picoctrl.c` and
 * `picodata.h` (naggety/picotts). They cannot change, because `weights.ts` checks the program's checksum.
 */
import type { PicoModule } from '@echogarden/svoxpico-wasm'

export type Item = { type: string; info: string; content: Uint8Array }

const stages = { pr: 1, acph: 4, spho: 5, pam: 6 } as const
type Stage = keyof typeof stages

/** Field offsets in bytes. */
const engine = { control: 16 }
const unit = { output: 24, inner: 32 }
const control = { units: 4 }
const ring = { buffer: 0, rear: 4, size: 10 }
const headBytes = 4

/** Collects the stages' items from the moment at which this object is made. */
export class ItemTaps {
  readonly #taps: Readonly<Record<Stage, RingTap>>

  constructor(module: PicoModule, engineAt: number) {
    const inner = pointer(module, pointer(module, engineAt + engine.control) + unit.inner)
    const tap = (stage: Stage) => {
      const unitAt = pointer(module, inner + control.units + 4 * stages[stage])
      return new RingTap(module, pointer(module, unitAt + unit.output))
    }
    this.#taps = { pr: tap('pr'), acph: tap('acph'), spho: tap('spho'), pam: tap('pam') }
  }

  /** Must be called after each step of the engine, because the rings are short. */
  poll(): void {
    this.#taps.pr.poll()
    this.#taps.acph.poll()
    this.#taps.spho.poll()
    this.#taps.pam.poll()
  }

  items(stage: Stage): Item[] {
    return this.#taps[stage].items()
  }
}

const pointer = (module: PicoModule, at: number) => module.HEAPU32[at / 4] as number

class RingTap {
  readonly #module: PicoModule
  readonly #rearAt: number
  readonly #bufferAt: number
  readonly #size: number
  readonly #bytes: number[] = []
  #read: number

  constructor(module: PicoModule, ringAt: number) {
    this.#module = module
    this.#rearAt = (ringAt + ring.rear) / 2
    this.#bufferAt = pointer(module, ringAt + ring.buffer)
    this.#size = module.HEAPU16[(ringAt + ring.size) / 2] as number
    this.#read = module.HEAPU16[this.#rearAt] as number
  }

  poll(): void {
    const rear = this.#module.HEAPU16[this.#rearAt] as number
    for (; this.#read !== rear; this.#read = (this.#read + 1) % this.#size)
      this.#bytes.push(this.#module.HEAPU8[this.#bufferAt + this.#read] as number)
  }

  items(): Item[] {
    const items: Item[] = []
    for (let at = 0; at + headBytes <= this.#bytes.length; ) {
      const [type = 0, info = 0, , length = 0] = this.#bytes.slice(at, at + headBytes)
      const content = Uint8Array.from(this.#bytes.slice(at + headBytes, at + headBytes + length))
      items.push({ type: String.fromCharCode(type), info: String.fromCharCode(info), content })
      at += headBytes + length
    }
    return items
  }
}
