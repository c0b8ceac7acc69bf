/** Notifies processes of changes to calls. Postgres sends each NOTIFY when the change's transaction commits. */
import type { CallChanges } from '../../domain/calls/store.ts'
import { Watchers } from '../caches/watchers.ts'
import type { Sql, Tx } from '../postgres/connect.ts'

const channel = 'parley_calls'

export async function notifyCallChange(tx: Tx, callId: string): Promise<void> {
  await tx`select pg_notify(${channel}, ${callId})`
}

export type ListeningCallChanges = CallChanges & {
  /** Resolves as soon as changes arrive. */
  listen(): Promise<void>
}

export function createCallChanges(sql: Sql): ListeningCallChanges {
  const watchers = new Watchers()
  return {
    watch: (callId, run) => watchers.watch(callId, run),
    listen: () => watchers.listen(sql, channel),
  }
}
