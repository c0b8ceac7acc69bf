/** The simulated carrier's memory is bounded: past the limit it forgets the oldest entry. */
const usualMax = 10_000

export function forgetOldest(kept: Map<string, unknown> | Set<string>, max = usualMax): void {
  if (kept.size <= max) return
  for (const [key] of kept.entries()) return void kept.delete(key)
}
