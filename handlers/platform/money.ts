/** Writes an amount as text, because a client may lose digits in a long number. Null if the amount is unknown. */
export function moneyOf(microUsd: number | null): string | null {
  return microUsd === null ? null : String(microUsd)
}

/** Converts an amount to US dollars, for responses whose amounts published clients read as numbers. */
export function usdOf(microUsd: number): number {
  return microUsd / 1e6
}
