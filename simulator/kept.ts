/** The memory of the simulated carrier is bounded: past the limit it forgets the oldest. */
const keptMax = 10_000

export function forgetOldest(kept: Map<string, unknown> | Set<string>): void {
  if (kept.size <= keptMax) return
  for (const [key] of kept.entries()) return void kept.delete(key)
}
