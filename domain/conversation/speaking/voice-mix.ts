/**
 * Mixes the voices for one person. Audio arrives irregularly and is sent in real time, so each voice has a short queue
 * against the jitter.
 */
/** If a voice's queue was empty, the voice is played again only when this much audio waits. */
const primedMs = 40
/** While more audio than this waits in a voice's queue, pauses in the speech are skipped. */
const lateMs = 120
/**
 * If more audio than this waits, the oldest is dropped until `lateMs` are left. The agent's limit is higher, because
 * its voice is sent ahead of real time.
 */
const waitingMsMax = { person: 400, agent: 2500 }
const silenceBelow = 100

export type VoiceKind = keyof typeof waitingMsMax

export class VoiceMix {
  readonly #samplesPerMs: number
  readonly #voices = new Map<string, VoiceQueue>()

  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000
  }

  /** Adds samples to the voice's queue. The buffer may be reused after the function returns. */
  push(name: string, kind: VoiceKind, samples: Int16Array): void {
    let voice = this.#voices.get(name)
    if (voice === undefined) {
      voice = new VoiceQueue(this.#samplesPerMs, waitingMsMax[kind])
      this.#voices.set(name, voice)
    }
    voice.push(samples)
  }

  /** Mixes each voice's next samples into these samples. */
  mixInto(samples: Int16Array): void {
    for (const voice of this.#voices.values()) voice.mixInto(samples)
  }

  /** Drops this voice's waiting audio. */
  drop(name: string): void {
    this.#voices.delete(name)
  }

  dropAll(): void {
    this.#voices.clear()
  }
}

class VoiceQueue {
  readonly #samplesPerMs: number
  readonly #ring: Int16Array
  #from = 0
  #length = 0
  #isPrimed = false

  constructor(samplesPerMs: number, waitingMs: number) {
    this.#samplesPerMs = samplesPerMs
    this.#ring = new Int16Array(samplesPerMs * waitingMs)
  }

  push(samples: Int16Array): void {
    const ring = this.#ring
    if (this.#length > lateMs * this.#samplesPerMs && isSilent(samples)) return
    if (this.#length + samples.length > ring.length) this.#keep(lateMs * this.#samplesPerMs)
    const newest = samples.subarray(Math.max(0, samples.length - (ring.length - this.#length)))
    const at = (this.#from + this.#length) % ring.length
    const first = newest.subarray(0, ring.length - at)
    ring.set(first, at)
    ring.set(newest.subarray(first.length), 0)
    this.#length += newest.length
    if (this.#length >= primedMs * this.#samplesPerMs) this.#isPrimed = true
  }

  mixInto(samples: Int16Array): void {
    if (!this.#isPrimed) return
    const ring = this.#ring
    const count = Math.min(samples.length, this.#length)
    for (let i = 0; i < count; i++) {
      const sum = samples[i]! + ring[(this.#from + i) % ring.length]!
      samples[i] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : sum
    }
    this.#drop(count)
    if (count < samples.length) this.#isPrimed = false
  }

  /** Keeps only the newest samples. */
  #keep(count: number): void {
    if (this.#length > count) this.#drop(this.#length - count)
  }

  #drop(count: number): void {
    this.#from = (this.#from + count) % this.#ring.length
    this.#length -= count
  }
}

function isSilent(samples: Int16Array): boolean {
  return samples.every((sample) => Math.abs(sample) < silenceBelow)
}
