const dayMs = 86_400_000

/** The start of the UTC day `days` before `nowMs`. Older things are due for deletion. */
export function retentionStartMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}
