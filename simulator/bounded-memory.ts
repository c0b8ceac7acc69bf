/** Bounds the simulated carrier's memory: when a map exceeds its limit, the oldest entry is deleted. */
const usualMax = 10_000

export function forgetOldest(memory: Map<string, unknown> | Set<string>, max = usualMax): void {
  if (memory.size <= max) return
  for (const [key] of memory.entries()) return void memory.delete(key)
}
