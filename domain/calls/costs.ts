/** The costs of a call, from the attempts at providers that were made for it. */
import type { Stage } from '../catalog/model.ts'
import type { CallAttempt } from './store.ts'

export type CostLine = {
  provider: string
  model: string
  stage: Stage
  metric: string
  quantity: number
  keySource: 'BYOK' | 'MANAGED'
  /** Null: the price is not known, which is not 0. */
  costMicroUsd: number | null
  priceSource: string | null
}

/** `costMicroUsd` is null where a part of it is. */
export type Costs = { lines: readonly CostLine[]; costMicroUsd: number | null }

/**
 * Lines that differ only in quantity and cost are summed. An attempt has one cost for all its quantities; its first line
 * has it, and the others have 0, so that the lines sum to the costs.
 */
export function costsOf(attempts: readonly CallAttempt[], isTest: boolean): Costs {
  const lines = new Map<string, CostLine>()
  for (const attempt of attempts)
    for (const [at, { unit, amount }] of attempt.quantities.entries()) {
      const line = lineOf(attempt, unit)
      const key = JSON.stringify(line)
      const known = lines.get(key) ?? { ...line, quantity: 0, costMicroUsd: 0 }
      const costMicroUsd = isTest ? 0 : at === 0 || attempt.costMicroUsd === null ? attempt.costMicroUsd : 0
      lines.set(key, {
        ...known,
        quantity: known.quantity + amount,
        costMicroUsd: sum(known.costMicroUsd, costMicroUsd),
      })
    }
  const all = [...lines.values()]
  return { lines: all, costMicroUsd: all.reduce<number | null>((total, line) => sum(total, line.costMicroUsd), 0) }
}

function lineOf({ provider, model, stage, keySource, priceSource }: CallAttempt, metric: string) {
  return {
    provider,
    model,
    stage,
    metric,
    keySource: keySource === 'byok' ? ('BYOK' as const) : ('MANAGED' as const),
    priceSource,
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
