import type { Price, PriceUnit } from '../ports/model.ts'
import type { Quantity } from './ledger.ts'

/** The units for quantities in the ledger. */
type QuantityUnit =
  | 'audio_milliseconds'
  | 'characters'
  | 'input_tokens'
  | 'cached_input_tokens'
  | 'output_tokens'
  | 'reasoning_tokens'

/**
 * The price units for each quantity unit, in order of preference. If a model lists no separate price for cached or
 * reasoning tokens, its vendor bills them as input and output tokens. Vendors' price lists state this rule. If a listed
 * price is null, the price is unknown.
 */
const billedBy: Record<QuantityUnit, { per: number; units: readonly PriceUnit[] }> = {
  audio_milliseconds: { per: 3_600_000, units: ['audio_hour'] },
  characters: { per: 1_000_000, units: ['million_characters'] },
  input_tokens: { per: 1_000_000, units: ['million_input_tokens'] },
  cached_input_tokens: { per: 1_000_000, units: ['million_cached_input_tokens', 'million_input_tokens'] },
  output_tokens: { per: 1_000_000, units: ['million_output_tokens'] },
  reasoning_tokens: { per: 1_000_000, units: ['million_reasoning_tokens', 'million_output_tokens'] },
}

/**
 * This amount is subtracted before a sum is rounded up, because otherwise a floating-point error could charge a
 * micro-dollar too much.
 */
const floatErrorMax = 1e-9

/** Returns whole micro-USD, rounded up. Returns null if a needed price is unknown. A quantity of 0 needs no price. */
export function costMicroUsd(prices: readonly Price[], quantities: readonly Quantity[]): number | null {
  let sum = 0
  for (const { unit, amount } of quantities) {
    if (amount === 0) continue
    const line = isCounted(unit) ? lineOf(prices, unit, amount) : null
    if (line === null) return null
    sum += line
  }
  return Math.ceil(Math.max(0, sum - floatErrorMax))
}

/**
 * Returns the prices' sources, such as `litellm 1.109.1, model prices, 2026-11-21`. Returns null if no price is listed.
 */
export function priceSourceOf(prices: readonly Price[]): string | null {
  const cached = sources.get(prices)
  if (cached !== undefined) return cached
  const listed = [...new Set(prices.map(({ source, asOf }) => `${source}, ${asOf}`))].join('; ') || null
  sources.set(prices, listed)
  return listed
}

/** Caches the source text for each model's prices. The prices come from the catalog and do not change. */
const sources = new WeakMap<readonly Price[], string | null>()

function isCounted(unit: string): unit is QuantityUnit {
  return Object.hasOwn(billedBy, unit)
}

function lineOf(prices: readonly Price[], unit: QuantityUnit, amount: number): number | null {
  const { per, units } = billedBy[unit]
  for (const each of units) {
    const price = prices.find((price) => price.unit === each)
    if (price) return price.microUsd === null ? null : (price.microUsd * amount) / per
  }
  return null
}
