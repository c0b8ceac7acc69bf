/** Sums a call's costs from its attempts at providers and from its legs' times. */
import type { Stage } from '../ports/model.ts'
import type { LegParty } from '../records/leg.ts'
import { costOfSeconds, type LegUse, secondsOf } from '../records/leg-costs.ts'
import type { CallAttempt } from './store.ts'

export type CostLine = {
  provider: string
  model: string
  stage: Stage | 'carrier'
  metric: string
  quantity: number
  keySource: 'BYOK' | 'MANAGED'
  /** Null if the price is unknown. Null is not the same as 0. */
  costMicroUsd: number | null
  priceSource: string | null
  /** The party whose leg causes the cost. Present only for a carrier's charges. */
  leg?: LegParty
}

type CostHead = Omit<CostLine, 'quantity' | 'costMicroUsd'>

/** `costMicroUsd` sums the known costs. `isComplete` is true if every cost is known. */
export type Costs = { lines: readonly CostLine[]; costMicroUsd: number; isComplete: boolean }

/**
 * Lines with the same fields except quantity and cost are added up to one line. An attempt has one cost for all its
 * quantities: its first line bears the cost and the other lines bear 0, so the lines add up to the total.
 */
export function costsOf(attempts: readonly CallAttempt[], legs: readonly LegUse[], isTest: boolean): Costs {
  const lines = new Map<string, CostLine>()
  let totalMicroUsd = 0
  let isComplete = true
  const add = (line: CostHead, quantity: number, costMicroUsd: number | null) => {
    const key = JSON.stringify(line)
    const soFar = lines.get(key) ?? { ...line, quantity: 0, costMicroUsd: 0 }
    const cost = isTest ? 0 : costMicroUsd
    lines.set(key, { ...soFar, quantity: soFar.quantity + quantity, costMicroUsd: sum(soFar.costMicroUsd, cost) })
    totalMicroUsd += cost ?? 0
    isComplete &&= cost !== null
  }
  for (const attempt of attempts)
    for (const [at, { unit, amount }] of attempt.quantities.entries())
      add(headOf(attempt, unit), amount, at === 0 || attempt.costMicroUsd === null ? attempt.costMicroUsd : 0)
  for (const leg of legs) {
    const seconds = secondsOf(leg.durationMs)
    const { microUsdPerMinute: price } = leg
    add(headOfLeg(leg), seconds, price === null ? null : costOfSeconds(price, seconds))
  }
  return { lines: [...lines.values()], costMicroUsd: totalMicroUsd, isComplete }
}

function headOf({ provider, model, stage, keySource, priceSource }: CallAttempt, metric: string): CostHead {
  return {
    provider,
    model,
    stage,
    metric,
    keySource: keySource === 'byok' ? 'BYOK' : 'MANAGED',
    priceSource,
  }
}

function headOfLeg({ party, direction, line, microUsdPerMinute }: LegUse): CostHead {
  const isOwn = line === 'trunk'
  // A simulator leg at price 0 needs no price source.
  const isFree = line === 'simulator' && microUsdPerMinute === 0
  return {
    provider: line,
    model: direction,
    stage: 'carrier',
    metric: 'carrier_seconds',
    keySource: isOwn ? 'BYOK' : 'MANAGED',
    priceSource: isOwn || microUsdPerMinute === null || isFree ? null : 'carrier.prices',
    leg: party,
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
