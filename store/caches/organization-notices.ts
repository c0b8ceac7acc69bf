/**
 * Notifies every process when the number of enabled organizations grows. This channel is separate from the channel for
 * keys, because a new organization changes no cached key.
 */
import type { Sql, Tx } from '../postgres/connect.ts'
import { onReturn } from '../postgres/outage.ts'

const channel = 'parley_organizations'

export type OrganizationNotices = {
  /**
   * Calls `changed` when an organization was created or enabled, in any process. Also calls it when such a change may
   * have been missed.
   */
  watch(changed: () => void): void
  /** Resolves as soon as this process receives the changes. */
  listen(): Promise<void>
}

/** Postgres sends the notification when the transaction commits. */
export async function notifyOrganizationAdded(tx: Tx): Promise<void> {
  await tx`select pg_notify(${channel}, '')`
}

export function createOrganizationNotices(sql: Sql): OrganizationNotices {
  const watchers: (() => void)[] = []
  const changed = () => {
    for (const watcher of watchers) watcher()
  }
  return {
    watch: (watcher) => void watchers.push(watcher),
    async listen() {
      // The driver listens again after each lost connection. During an outage no code reads the database, so `changed`
      // is also called when the outage ends.
      await sql.listen(channel, changed, changed)
      onReturn(sql, changed)
    },
  }
}
