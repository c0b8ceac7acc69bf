/** The costs of a call, from the attempts at providers that were made for it and from the time of its legs. */
import type { Stage } from '../catalog/model.ts'
import type { LegParty } from '../phone/leg.ts'
import { costOfSeconds, type LegUse, secondsOf } from '../phone/leg-costs.ts'
import type { CallAttempt } from './store.ts'

export type CostLine = {
  provider: string
  model: string
  stage: Stage | 'carrier'
  metric: string
  quantity: number
  keySource: 'BYOK' | 'MANAGED'
  /** Null: the price is not known, which is not 0. */
  costMicroUsd: number | null
  priceSource: string | null
  /** The party of the leg, in lines of the carrier alone. */
  leg?: LegParty
}

type CostHead = Omit<CostLine, 'quantity' | 'costMicroUsd'>

/** `costMicroUsd` is null where a part of it is. */
export type Costs = { lines: readonly CostLine[]; costMicroUsd: number | null }

/**
 * Lines that differ only in quantity and cost are summed. An attempt has one cost for all its quantities; its first line
 * has it, and the others have 0, so that the lines sum to the costs.
 */
export function costsOf(attempts: readonly CallAttempt[], legs: readonly LegUse[], isTest: boolean): Costs {
  const lines = new Map<string, CostLine>()
  const add = (line: CostHead, quantity: number, costMicroUsd: number | null) => {
    const key = JSON.stringify(line)
    const known = lines.get(key) ?? { ...line, quantity: 0, costMicroUsd: 0 }
    const cost = sum(known.costMicroUsd, isTest ? 0 : costMicroUsd)
    lines.set(key, { ...known, quantity: known.quantity + quantity, costMicroUsd: cost })
  }
  for (const attempt of attempts)
    for (const [at, { unit, amount }] of attempt.quantities.entries())
      add(headOf(attempt, unit), amount, at === 0 || attempt.costMicroUsd === null ? attempt.costMicroUsd : 0)
  for (const leg of legs) {
    const seconds = secondsOf(leg.durationMs)
    const { microUsdPerMinute: price } = leg
    add(headOfLeg(leg), seconds, price === null ? null : costOfSeconds(price, seconds))
  }
  const all = [...lines.values()]
  return { lines: all, costMicroUsd: all.reduce<number | null>((total, line) => sum(total, line.costMicroUsd), 0) }
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
  return {
    provider: line,
    model: direction,
    stage: 'carrier',
    metric: 'carrier_seconds',
    keySource: isOwn ? 'BYOK' : 'MANAGED',
    priceSource: isOwn || microUsdPerMinute === null ? null : 'carrier.prices',
    leg: party,
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
