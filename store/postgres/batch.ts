/**
 * Turns single calls into statements over many rows. A statement costs this process about as much CPU for sixty
 * rows as for one. If the last batch held one row, the next one is sent at the end of the tick, because a request
 * waits for it. If it held more, the next one is gathered for `gatherMs`, because Postgres answers a small batch so
 * fast that batches would stay small. While a batch is under way, the next one grows. Rows are gathered on the machine's
 * time, since Postgres answers on no other.
 */
import { Fault } from '../../domain/records/fault.ts'
import { asFault } from './unavailable.ts'

export type BatchLimits = {
  rowsMax: number
  /** How long rows are gathered when the last batch had several. */
  gatherMs: number
  /** The same when it had one row. 0 where a request waits for the answer, so that an idle server adds no latency. */
  idleGatherMs: number
  /** Rows that may wait; the next one is refused with the fault overloaded. */
  queueMax: number
}

export type Batcher<Row, Answer> = {
  /** Rejects when the batch of this row fails, and not when another batch does. */
  add(row: Row): Promise<Answer>
  /**
   * Adds a row without waiting for its answer. `run` must handle its failures. Throws the fault overloaded when the
   * queue is full.
   */
  post(row: Row): void
  /** Resolves when the batches of all rows that were added before it are over. */
  drain(): Promise<void>
  /** Rows whose batches are not over. */
  waiting(): number
}

const ignore = () => {}
/** Its `then` queues a microtask without the asynchronous context that Node makes for each queueMicrotask. */
const soon = Promise.resolve()

/** `run` returns one value for each row, in the order of the rows. */
export function createBatcher<Row, Answer>(
  run: (rows: readonly Row[]) => Promise<readonly Answer[]>,
  limits: BatchLimits,
): Batcher<Row, Answer> {
  type Waiting = { row: Row; resolve: (answer: Answer) => void; reject: (error: unknown) => void }
  let queue: Waiting[] = []
  let isUnderWay = false
  let scheduled = false
  let lastBatchWasShared = false
  /** Rows that were added, and those whose batches are over. They are in one order. */
  let added = 0
  let over = 0
  const drains: { rows: number; done: () => void }[] = []

  function schedule(): void {
    if (scheduled || isUnderWay || queue.length === 0) return
    scheduled = true
    const waitMs = lastBatchWasShared ? limits.gatherMs : limits.idleGatherMs
    if (waitMs > 0) setTimeout(flush, waitMs)
    else void soon.then(flush)
  }

  function flush(): void {
    scheduled = false
    const batch = queue.length <= limits.rowsMax ? queue : queue.slice(0, limits.rowsMax)
    queue = batch === queue ? [] : queue.slice(limits.rowsMax)
    lastBatchWasShared = batch.length > 1
    isUnderWay = true
    void send(batch)
  }

  async function send(batch: Waiting[]): Promise<void> {
    try {
      const answers = await run(batch.map(({ row }) => row))
      batch.forEach(({ resolve }, index) => {
        resolve(answers[index] as Answer)
      })
    } catch (error) {
      const fault = asFault(error)
      for (const { reject } of batch) reject(fault)
    }
    isUnderWay = false
    over += batch.length
    schedule()
    while (drains[0] !== undefined && drains[0].rows <= over) drains.shift()?.done()
  }

  function enqueue(waiting: Waiting): void {
    if (queue.length >= limits.queueMax) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    queue.push(waiting)
    added += 1
    schedule()
  }

  return {
    add: (row) => new Promise((resolve, reject) => enqueue({ row, resolve, reject })),
    post: (row) => enqueue({ row, resolve: ignore, reject: ignore }),
    waiting: () => added - over,
    drain() {
      if (over === added) return Promise.resolve()
      return new Promise((done) => {
        drains.push({ rows: added, done })
      })
    },
  }
}
