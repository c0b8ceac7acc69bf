/** Time and identifiers of a running process. Tests hand in their own. */
import { customAlphabet } from 'nanoid'
import { v7 } from 'uuid'

export const systemClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/**
 * Letters and digits only: an id can be selected with a double click and needs no escaping in a header or a URL. 131
 * bits.
 */
export const uniqueId = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 22)

export const systemIds = {
  request: () => `req_${uniqueId()}`,
  attempt: () => `att_${uniqueId()}`,
  /** Ordered by time (RFC 9562, version 7). */
  session: () => v7(),
  token: () => `tok_${uniqueId()}`,
}
