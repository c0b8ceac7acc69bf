/** Time and identifiers of a running process. Tests hand in their own. */
import { randomFillSync } from 'node:crypto'
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
const letters = Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
const lettersAnId = 22
const random = Buffer.alloc(8192)
const id = Buffer.alloc(lettersAnId)
let used = random.length

/**
 * 131 bits. A request has two of these, so randomness is drawn by the page, and the text is made flat in one piece: nanoid, which this
 * stands for, costs four times as much, because it joins character by character and V8 keeps such a text as a tree of 22 pieces.
 */
function unique(): string {
  for (let at = 0; at < lettersAnId; ) {
    if (used === random.length) {
      randomFillSync(random)
      used = 0
    }
    // Six bits; the two values that name no letter are drawn again, or some letters would come more often.
    const letter = letters[(random[used++] as number) & 63]
    if (letter !== undefined) id[at++] = letter
  }
  return id.toString('latin1')
}

export const systemIds = {
  request: () => `req_${unique()}`,
  attempt: () => `att_${unique()}`,
  /** Ordered by time (RFC 9562, version 7). */
  session: () => v7(),
  token: () => `tok_${unique()}`,
}
