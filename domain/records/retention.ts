const dayMs = 86_400_000

/** Returns the start of the UTC day `days` before `nowMs`. Data from before this time must be deleted. */
export function retentionStartMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}
