/**
 * Collects rows from single requests into statements over many rows. A statement costs this process about as much CPU
 * for sixty rows as for one. If the last batch held one row, the next batch waits only `idleGatherMs`. With 0 it is
 * sent in the next microtask, because a request waits for it. If the last batch held more rows, the next batch waits
 * `gatherMs`, because Postgres answers small batches so fast that batches would stay small. While a batch is under way,
 * the next batch grows. The wait uses the machine's clock, because Postgres answers on no other clock.
 */
import { Fault } from '../../domain/records/fault.ts'
import { asFault } from './unavailable.ts'

export type BatchLimits = {
  rowsMax: number
  /** The wait before a batch if the last batch had several rows. */
  gatherMs: number
  /**
   * The wait if the last batch had one row. Use 0 if a request waits for the answer, so an idle server adds no latency.
   */
  idleGatherMs: number
  /** The maximum number of rows in the queue. More rows are refused with the fault overloaded. */
  queueMax: number
}

export type Batcher<Row, Answer> = {
  /**
   * Adds a row and resolves with its result. Rejects if this row's batch fails, but not if another batch fails. Also
   * rejects if the queue is full.
   */
  add(row: Row): Promise<Answer>
  /**
   * Adds a row without waiting for its result. If the batch fails, `run` must handle it, because no code waits for the
   * result. Throws the fault overloaded if the queue is full.
   */
  post(row: Row): void
  /** Resolves when all rows added so far are finished. */
  drain(): Promise<void>
  /** Counts the rows in the queue and in the current batch. */
  waiting(): number
}

const ignore = () => {}
/**
 * `soon.then` runs a function in a microtask. `queueMicrotask` would also make an asynchronous context for each
 * function in Node.
 */
const soon = Promise.resolve()

/** Makes a batcher. `run` returns one result for each row, in the order of the rows. */
export function createBatcher<Row, Answer>(
  run: (rows: readonly Row[]) => Promise<readonly Answer[]>,
  limits: BatchLimits,
): Batcher<Row, Answer> {
  type Waiting = { row: Row; resolve: (answer: Answer) => void; reject: (error: unknown) => void }
  let queue: Waiting[] = []
  let isUnderWay = false
  let scheduled = false
  let lastBatchWasShared = false
  /** `added` and `over` count added and finished rows. Rows finish in the order in which they were added. */
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
