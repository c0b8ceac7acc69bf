/**
 * Undoes rows whose write failed or was refused at its deadline. The write may have taken effect, or may still do so,
 * but its request was refused. So the rows are undone when the write has ended. If this fails, they are undone after
 * the outage. If the write has lost its connection, Postgres may still run it for a while, so the rows are undone
 * twice.
 */
import type { Clock } from '../../domain/ports/system.ts'
import { type Sql, statementTimeoutMs } from './connect.ts'
import { inTime, onReturn } from './outage.ts'
import { isAnswer } from './unavailable.ts'

export type UndoneWrites<Row, Answer> = {
  /** Runs a write with a deadline. If it fails or is refused, the rows are undone. */
  write<T>(rows: readonly Row[], run: () => Promise<T>): Promise<T>
  /** Undoes rows after a successful write, for example to release a key. If this fails, they are undone later. */
  undo(rows: readonly Row[]): Promise<Answer>
  /** Undoes the remaining rows. */
  run(): Promise<void>
}

const rowsMax = 256
/**
 * The maximum number of rows that wait to be undone. Further rows are forgotten. After this process has ended, other
 * processes release their credit or key.
 */
const waitingMax = 10_000

/**
 * `isTwice`: the row's write may still run in Postgres. So after a successful undo, the row is undone again when the
 * write must have ended.
 */
type Waiting<Row> = { row: Row; isTwice: boolean }

/** `undo` must change nothing if the write had no effect. `idOf` tells rows apart. */
export function undoneWrites<Row, Answer>(
  sql: Sql,
  clock: Pick<Clock, 'monotonicMs'>,
  idOf: (row: Row) => string,
  undo: (rows: readonly Row[]) => Promise<Answer>,
): UndoneWrites<Row, Answer> {
  const waiting = new Map<string, Waiting<Row>>()
  /** Rows to be undone again from this time on, the earliest first. */
  const again = new Map<string, { row: Row; fromMs: number }>()
  let running: Promise<void> | null = null

  function add(rows: readonly Row[], isTwice: boolean): void {
    for (const row of rows)
      if (waiting.size + again.size < waitingMax) {
        // An undo of the same row may be under way. It may have come too early, so this entry replaces the earlier one.
        waiting.set(idOf(row), { row, isTwice })
      }
    tryNow()
  }

  function addDue(): void {
    for (const [id, { row, fromMs }] of again) {
      if (clock.monotonicMs() < fromMs) return
      again.delete(id)
      waiting.set(id, { row, isTwice: false })
    }
  }

  async function undoAll(): Promise<void> {
    try {
      while (waiting.size > 0) {
        const entries = [...waiting].slice(0, rowsMax)
        await inTime(sql, () => undo(entries.map(([, { row }]) => row)))
        for (const [id, entry] of entries) undone(id, entry)
      }
    } finally {
      running = null
    }
  }

  function undone(id: string, entry: Waiting<Row>): void {
    if (waiting.get(id) === entry) waiting.delete(id)
    if (entry.isTwice) again.set(id, { row: entry.row, fromMs: clock.monotonicMs() + statementTimeoutMs })
  }

  function run(): Promise<void> {
    addDue()
    return waiting.size === 0 ? Promise.resolve() : (running ??= undoAll())
  }

  const tryNow = () => void run().catch(() => {})
  onReturn(sql, tryNow)

  return {
    write(rows, write) {
      let hasFailed = false
      const failed = (error: unknown) => {
        hasFailed = true
        add(rows, !isAnswer(error))
        throw error
      }
      return inTime(
        sql,
        () => write().catch(failed),
        () => {
          if (!hasFailed) add(rows, false)
        },
      )
    },
    undo: (rows) =>
      inTime(sql, () => undo(rows)).catch((error: unknown) => {
        add(rows, false)
        throw error
      }),
    run,
  }
}
