/** Time and identifiers in a running process. Tests pass other implementations. */
import { randomFillSync, randomInt, randomUUID } from 'node:crypto'
import { v7 } from 'uuid'

export const systemClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Rejects with `late` if the work takes longer than `delayMs`. The work continues in any case. */
export async function within<T>(
  clock: Pick<typeof systemClock, 'after'>,
  delayMs: number,
  work: Promise<T>,
  late: string,
): Promise<T> {
  let cancel = () => {}
  const timeUp = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(delayMs, () => reject(new Error(late)))
  })
  try {
    return await Promise.race([work, timeUp])
  } finally {
    cancel()
  }
}

const letters = Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
const id = Buffer.alloc(22)
const random = Buffer.alloc(8192)
let used = random.length

/**
 * Makes an id from letters and digits only: it can be selected with a double click and needs no escaping in a header or
 * a URL. It has 131 bits. A request has two ids, so the text is written in one piece (0.7 µs). nanoid joins letters,
 * which takes 1.0 µs and leaves 22 strings to collect.
 */
export function uniqueId(): string {
  for (let at = 0; at < id.length; ) {
    if (used === random.length) {
      randomFillSync(random)
      used = 0
    }
    // Six bits select from 62 letters. The two values without a letter are drawn again, so all letters are equally
    // likely.
    const letter = letters[(random[used++] as number) & 63]
    if (letter !== undefined) id[at++] = letter
  }
  return id.toString('latin1')
}

export type Ids = ReturnType<typeof createIds>

/** Makes ids with a prefix for their kind. Ids in time order get their time from the clock. */
export function createIds(clock: Pick<typeof systemClock, 'nowMs'>) {
  const ordered = createOrderedIds(clock)
  return {
    request: () => `req_${uniqueId()}`,
    attempt: () => `att_${uniqueId()}`,
    session: ordered,
    token: () => `tok_${uniqueId()}`,
    agent: () => `agent_${uniqueId()}`,
    tool: () => `tool_${uniqueId()}`,
    phoneNumber: () => `pn_${uniqueId()}`,
    sipConnection: () => `sip_${uniqueId()}`,
    callback: () => `callback_${uniqueId()}`,
    leg: () => `leg_${ordered()}`,
    endpoint: ordered,
    submission: () => `kyb_${uniqueId()}`,
    participant: () => `join_${randomUUID()}`,
  }
}

const sequenceMax = 0x7fff_ffff

/**
 * Makes UUIDs in creation order, also within one millisecond (RFC 9562, version 7, method 1 of section 6.2). If the
 * clock is set back, they keep the newest time.
 */
function createOrderedIds(clock: Pick<typeof systemClock, 'nowMs'>): () => string {
  let msecs = 0
  let seq = 0
  return () => {
    const nowMs = Math.floor(clock.nowMs())
    if (nowMs > msecs) {
      msecs = nowMs
      // Half the range is left for further ids in this millisecond.
      seq = randomInt(sequenceMax >> 1)
    } else if (seq < sequenceMax) seq += 1
    else {
      msecs += 1
      seq = 0
    }
    return v7({ msecs, seq })
  }
}

export const systemIds = createIds(systemClock)
