/**
 * The delivery schedule: attempts at 0, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, each counted from the
 * end of the attempt before.
 */
const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The delays before the second attempt, the third attempt and so on. */
export const retryDelaysMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]
/**
 * Each delay varies by this fraction, so that deliveries that failed at the same time are not all repeated at the same
 * time.
 */
const jitter = 0.1
/** A longer Retry-After is shortened to this time. */
export const retryAfterMaxMs = 24 * hour

/**
 * Returns the wait before the next attempt, or null if no attempt is left. `failures` counts failed attempts in the
 * schedule. `random` is from 0 to 1. A Retry-After can lengthen the wait but never shorten it.
 */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: number): number | null {
  const delayMs = retryDelaysMs[failures - 1]
  if (delayMs === undefined) return null
  const varied = Math.round(delayMs * (1 - jitter + 2 * jitter * random))
  return Math.max(varied, Math.min(retryAfterMs ?? 0, retryAfterMaxMs))
}
