/** An amount is text in the contract, because a client may lose digits in a long number. Null if unknown. */
export function moneyOf(microUsd: number | null): string | null {
  return microUsd === null ? null : String(microUsd)
}

/** US dollars, for answers that published clients read as numbers. */
export function usdOf(microUsd: number): number {
  return microUsd / 1e6
}
