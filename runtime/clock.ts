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

// Letters and digits only: an id can be selected with a double click and stands in a header or a URL as it is.
const letters = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 22)

/** nanoid joins character by character, and V8 keeps such a text as a tree of 22 pieces for as long as it lives: copied flat. */
const unique = () => Buffer.from(letters(), 'latin1').toString('latin1')

export const systemIds = {
  request: () => `req_${unique()}`,
  attempt: () => `att_${unique()}`,
  /** Ordered by time (RFC 9562, version 7). */
  session: () => v7(),
  token: () => `tok_${unique()}`,
}
