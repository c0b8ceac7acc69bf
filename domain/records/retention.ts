const dayMs = 86_400_000

/** The beginning of the UTC day that is `days` before `nowMs`: what is older is past its time. */
export function keptFromMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}
