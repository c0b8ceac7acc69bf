/** Which calls have changed, in any process. Each change is sent with NOTIFY when its transaction commits. */
import type { CallChanges } from '../domain/calls/store.ts'
import type { Sql, Tx } from './connect.ts'

const channel = 'parley_calls'

export async function notifyCallChange(tx: Tx, callId: string): Promise<void> {
  await tx`select pg_notify(${channel}, ${callId})`
}

export type ListeningCallChanges = CallChanges & {
  /** Resolves when changes are received. */
  listen(): Promise<void>
}

export function createCallChanges(sql: Sql): ListeningCallChanges {
  const watchers = new Map<string, Set<() => void>>()

  function changed(callId: string): void {
    for (const run of watchers.get(callId) ?? []) run()
  }

  return {
    watch(callId, run) {
      const ofCall = watchers.get(callId) ?? new Set()
      watchers.set(callId, ofCall.add(run))
      return () => {
        ofCall.delete(run)
        if (ofCall.size === 0 && watchers.get(callId) === ofCall) watchers.delete(callId)
      }
    },
    async listen() {
      // The driver listens again after each lost connection. Changes were missed in between.
      await sql.listen(channel, changed, () => {
        for (const callId of watchers.keys()) changed(callId)
      })
    },
  }
}
