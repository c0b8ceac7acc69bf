/** A test stores events in a Parley's database, like a call's transactions do. */
import { v7 } from 'uuid'
import type { Tenant } from '../../domain/records/organization.ts'
import type { OutboxEvent } from '../../domain/webhooks/outbox.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { transactionEach, type Worlds } from '../../store/postgres/tenant.ts'
import { enqueue } from '../../store/webhooks/webhook-outbox.ts'

export type StoredEvents = Worlds & {
  /** Returns the event's id. Rejects if the database does not accept it. */
  store(tenant: Tenant, event: OutboxEvent, endpoints?: readonly { id: string; name: string }[]): Promise<string>
  close(): Promise<void>
}

export function openStoredEvents(databaseUrl: string): StoredEvents {
  const connection = connectOnce({ databaseUrl }, 'events of a test')
  const worlds = transactionEach(connection)
  return {
    asTenant: (tenant, run) => worlds.asTenant(tenant, run),
    async store(tenant, event, endpoints = []) {
      await worlds.asTenant(tenant, (tx) => enqueue(tx, tenant, event, endpoints))
      return event.id
    },
    close: () => connection.end({ timeout: 1 }),
  }
}

/** A call status change, except for the fields in `more`. The body has the type, the id and the payload. */
export function eventOf(atMs: number, payload: object = {}, more: Partial<OutboxEvent> = {}): OutboxEvent {
  const id = v7()
  const type = more.type ?? 'call.status'
  const body = Buffer.from(JSON.stringify({ type, id, ...payload }))
  const call = { callId: v7(), agentId: null, tags: {}, version: null }
  return { id, type, ...call, body, occurredAtMs: atMs, createdAtMs: atMs, ...more }
}
