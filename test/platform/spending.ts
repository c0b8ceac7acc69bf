/** Makes random requests, and sums the usage that the responses report. */
import { random } from '../random.ts'

export type LlmUsage = Record<string, number> & { cost_micro_usd: number | null }

/** Returns functions for random choices. The same seed gives the same sequence. */
export function randomOf(seed: number) {
  const next = random(seed)
  const upTo = (most: number) => Math.floor(next() * (most + 1))
  return { upTo, pick: <T>(values: readonly T[]) => values[upTo(values.length - 1)] as T }
}

type Sum = { unpriced: number; costMicroUsd: number | null; quantities: Record<string, number>; succeeded: number }

export class Expected {
  failures = 0
  readonly #sums = new Map<string, Sum>()

  failed(status: number): void {
    if (status < 500) throw new Error(`a request was refused with ${status}`)
    this.failures += 1
  }

  add(provider: string, stage: string, cost: number | null, quantities: Record<string, number>): void {
    const key = `${provider} ${stage}`
    const sum = this.#sums.get(key) ?? { unpriced: 0, costMicroUsd: null, quantities: {}, succeeded: 0 }
    this.#sums.set(key, sum)
    sum.succeeded += 1
    if (cost === null) sum.unpriced += 1
    else sum.costMicroUsd = (sum.costMicroUsd ?? 0) + cost
    for (const [unit, amount] of Object.entries(quantities))
      if (amount > 0) sum.quantities[unit] = (sum.quantities[unit] ?? 0) + amount
  }

  /** Returns usage rows by provider and stage (stt, llm or tts). A failed request has the known cost 0. */
  rows(): object[] {
    return [...this.#sums.keys()].sort().map((key) => {
      const [provider, stage] = key.split(' ')
      const { costMicroUsd, ...sum } = this.#sums.get(key) as Sum
      return { provider, stage, legs: 0, ...sum, costMicroUsd: String(costMicroUsd ?? 0) }
    })
  }

  /**
   * Returns the lines for `breakdown`: the first unit per provider and stage has the cost. `own` lists providers with a
   * key from the organization.
   */
  breakdown(own: readonly string[]): object[] {
    return [...this.#sums.keys()].sort().flatMap((key) => {
      const [provider = '', type] = key.split(' ')
      const { quantities, costMicroUsd } = this.#sums.get(key) as Sum
      const keySource = own.includes(provider) ? 'BYOK' : 'MANAGED'
      return Object.keys(quantities)
        .sort()
        .map((metric, at) => {
          const cost = at === 0 ? (costMicroUsd ?? 0) / 1e6 : 0
          return { provider, type, metric, keySource, quantity: quantities[metric], cost }
        })
    })
  }

  get total() {
    let [unpriced, costMicroUsd] = [0, 0]
    const quantities: Record<string, number> = {}
    for (const sum of this.#sums.values()) {
      unpriced += sum.unpriced
      costMicroUsd += sum.costMicroUsd ?? 0
      for (const [unit, amount] of Object.entries(sum.quantities)) quantities[unit] = (quantities[unit] ?? 0) + amount
    }
    return { legs: 0, unpriced, costMicroUsd: String(costMicroUsd), quantities }
  }
}

/** Returns a WAV file with silence, 16-bit PCM at 8 kHz. */
export function wavOf(durationMs: number): Buffer {
  const bytes = Math.round(durationMs * 8) * 2
  const wav = Buffer.alloc(44 + bytes)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(36 + bytes, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(8_000, 24)
  wav.writeUInt32LE(16_000, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(bytes, 40)
  return wav
}
