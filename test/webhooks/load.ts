/** Many deliveries at once. */
import type postgres from 'postgres'
import { v7 } from 'uuid'
import type { Tenant } from '../../domain/access/organization.ts'
import { connectOnce } from '../../store/connect.ts'
import { transactionEach } from '../../store/tenant.ts'
import { enqueue } from '../../store/webhook-outbox.ts'
import { socketDir } from '../process/database.ts'

export function databaseUrlOf(dataDir: string): string {
  return `postgres://parley@localhost/parley?host=${encodeURIComponent(socketDir(dataDir))}`
}

/** As large as most events. */
const filler = 'The caller asked for a table at seven, and will come with two children. '.repeat(12)

export type Emitter = {
  /** Stores an event for the endpoints; its id. Due after `dueInMs`. Rejects when the database does not take it. */
  emit(endpointIds: readonly string[], dueInMs?: number): Promise<string>
  close(): Promise<void>
}

/** Stores events as the transactions of calls do. */
export function openEmitter(databaseUrl: string, tenant: Tenant): Emitter {
  const connection = connectOnce({ databaseUrl }, 'events of a test')
  const worlds = transactionEach(connection)
  return {
    async emit(endpointIds, dueInMs = 0) {
      const id = v7()
      const atMs = Date.now() + dueInMs
      const type = 'call.status' as const
      const body = Buffer.from(JSON.stringify({ type, event_id: id, text: filler }))
      const times = { occurredAtMs: atMs, createdAtMs: atMs }
      const event = { id, type, callId: v7(), agentId: null, tags: {}, version: null, body, ...times }
      const endpoints = endpointIds.map((endpointId) => ({ id: endpointId, name: 'an endpoint' }))
      await worlds.asTenant(tenant, (tx) => enqueue(tx, tenant, event, endpoints))
      return id
    },
    close: () => connection.end({ timeout: 1 }),
  }
}

/** Makes all of them due. Polls find them within a second. */
export async function makeDue(sql: postgres.Sql): Promise<void> {
  await sql`update webhook_deliveries set due_at = now(), created_at = now() where status = 'pending'`
}

export async function countOf(sql: postgres.Sql, status: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_deliveries where status = ${status}`
  return row?.count ?? 0
}
