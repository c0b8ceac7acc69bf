/** Stores many webhook deliveries at once. */
import type postgres from 'postgres'
import type { Tenant } from '../../domain/records/organization.ts'
import { eventOf, openStoredEvents } from './stored-events.ts'

/** This text makes an event about as large as a usual event. */
const filler = 'The caller asked for a table at seven, and will come with two children. '.repeat(12)

export type Emitter = {
  /**
   * Stores an event for the endpoints, and returns its id. Its deliveries are due after `dueInMs`. Rejects if the
   * database does not accept the event.
   */
  emit(endpointIds: readonly string[], dueInMs?: number): Promise<string>
  close(): Promise<void>
}

export function openEmitter(databaseUrl: string, tenant: Tenant): Emitter {
  const events = openStoredEvents(databaseUrl)
  return {
    emit(endpointIds, dueInMs = 0) {
      const event = eventOf(Date.now() + dueInMs, { text: filler })
      const endpoints = endpointIds.map((id) => ({ id, name: 'an endpoint' }))
      return events.store(tenant, event, endpoints)
    },
    close: () => events.close(),
  }
}

/** Makes all deliveries due. Polls find them within a second. */
export async function makeDue(sql: postgres.Sql): Promise<void> {
  await sql`update webhook_deliveries set due_at = now(), created_at = now() where status = 'pending'`
}

export async function countOf(sql: postgres.Sql, status: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_deliveries where status = ${status}`
  return row?.count ?? 0
}
