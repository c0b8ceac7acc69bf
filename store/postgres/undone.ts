/**
 * Undoes rows whose write failed or was refused at its deadline. The write may have taken effect, or may still do so, but
 * its request was refused. So the rows are undone when the write has ended, and again after an outage.
 */
import type { Sql } from './connect.ts'
import { inTime, onReturn } from './outage.ts'

export type UndoneWrites<Row, Answer> = {
  /** Runs a write in time. If it fails or is refused, the rows are undone. */
  write<T>(rows: readonly Row[], run: () => Promise<T>): Promise<T>
  /** Undoes written rows for their request. If this fails, they are undone later. */
  undo(rows: readonly Row[]): Promise<Answer>
  /** Undoes the remaining rows. */
  run(): Promise<void>
}

const rowsMax = 256
/** More rows are forgotten. If this process ends, other code gives back what they hold. */
const waitingMax = 10_000

/** `undo` must change nothing if the write had no effect. `idOf` tells rows apart. */
export function undoneWrites<Row, Answer>(
  sql: Sql,
  idOf: (row: Row) => string,
  undo: (rows: readonly Row[]) => Promise<Answer>,
): UndoneWrites<Row, Answer> {
  const waiting = new Map<string, Row>()
  let running: Promise<void> | null = null

  function add(rows: readonly Row[]): void {
    for (const row of rows) if (waiting.size < waitingMax) waiting.set(idOf(row), row)
    tryNow()
  }

  async function undoAll(): Promise<void> {
    try {
      while (waiting.size > 0) {
        const rows = [...waiting].slice(0, rowsMax)
        await inTime(sql, () => undo(rows.map(([, row]) => row)))
        for (const [id] of rows) waiting.delete(id)
      }
    } finally {
      running = null
    }
  }

  const run = () => (waiting.size === 0 ? Promise.resolve() : (running ??= undoAll()))
  const tryNow = () => void run().catch(() => {})
  onReturn(sql, tryNow)

  return {
    write(rows, write) {
      const late = () => add(rows)
      return inTime(
        sql,
        () =>
          write().catch((error: unknown) => {
            late()
            throw error
          }),
        late,
      )
    },
    undo: (rows) =>
      inTime(sql, () => undo(rows)).catch((error: unknown) => {
        add(rows)
        throw error
      }),
    run,
  }
}
