import { UsageError } from './command-error.ts'

export type Budget = { microUsd: number; period: 'day' | 'month' | 'total' }

const microUsdPerUsd = 1_000_000

/** Reads a budget such as `5usd/month`, `0.25usd/day` or `100usd/total`. */
export function budgetOf(option: string, text: string): Budget {
  const [, dollars, period] = /^(\d{1,9}(?:\.\d{1,6})?)usd\/(day|month|total)$/.exec(text) ?? []
  if (dollars === undefined || period === undefined)
    throw new UsageError(`${option}: ${text} is no budget; write 5usd/month, 0.25usd/day or 100usd/total`)
  return { microUsd: Math.round(Number(dollars) * microUsdPerUsd), period: period as Budget['period'] }
}

/** Returns a text such as `spent $0.250000 of $5.000000 a month`. */
export function spentWords({ microUsd, period, spentMicroUsd }: Budget & { spentMicroUsd: number }): string {
  const dollars = (amount: number) => `$${(amount / microUsdPerUsd).toFixed(6)}`
  return `spent ${dollars(spentMicroUsd)} of ${dollars(microUsd)} ${period === 'total' ? 'in total' : `a ${period}`}`
}
