import type { Sql } from '../../store/postgres/connect.ts'

/** Takes a lock with the statement `lock`, and keeps it until the returned function is called. */
export async function hold(sql: Sql, lock: string): Promise<() => Promise<unknown>> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let transaction: Promise<unknown> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    transaction = sql.begin(async (tx) => {
      await tx.unsafe(lock)
      resolve()
      await released
    })
    transaction.catch(reject)
  })
  return () => {
    release()
    return transaction
  }
}
