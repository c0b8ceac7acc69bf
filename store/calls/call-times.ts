/**
 * Converts call times in microseconds. A Date has only milliseconds, so times are numbers here and text for Postgres.
 */
import type { Tx } from '../postgres/connect.ts'

/** Returns a function to make a new call's time. Two calls in this process never have the same time. */
export function createMicroseconds(): (ms: number) => string {
  let lastUs = 0
  return (ms) => {
    lastUs = Math.max(lastUs + 1, Math.floor(ms) * 1000)
    return timestampOf(lastUs)
  }
}

/** `2026-11-21T16:00:00.000123Z` */
export function timestampOf(us: number): string {
  const ms = Math.floor(us / 1000)
  return new Date(ms).toISOString().replace('Z', `${String(us - ms * 1000).padStart(3, '0')}Z`)
}

export const createdAtUs = (tx: Tx) => tx`(extract(epoch from created_at) * 1000000)::bigint as "createdAtUs"`
