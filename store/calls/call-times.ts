/**
 * Converts call times in microseconds. A Date has only milliseconds, so times are numbers here and text for Postgres.
 */
import type { Tx } from '../postgres/connect.ts'

/** If the clock is set back by less than this time, the order in a list of calls must not change. */
const correctionUsMax = 1_000_000

/**
 * Returns a function to make a new call's time. Each call in this process gets a later time than the call before. But
 * if the clock was set back by a second or more, a call gets the clock's time, because a time in the future would be
 * wrong.
 */
export function createMicroseconds(): (ms: number) => string {
  let lastUs = 0
  return (ms) => {
    const us = Math.floor(ms) * 1000
    lastUs = us > lastUs || lastUs - us >= correctionUsMax ? us : lastUs + 1
    return timestampOf(lastUs)
  }
}

/** `2026-11-21T16:00:00.000123Z` */
export function timestampOf(us: number): string {
  const ms = Math.floor(us / 1000)
  return new Date(ms).toISOString().replace('Z', `${String(us - ms * 1000).padStart(3, '0')}Z`)
}

export const createdAtUs = (tx: Tx) => tx`(extract(epoch from created_at) * 1000000)::bigint as "createdAtUs"`
