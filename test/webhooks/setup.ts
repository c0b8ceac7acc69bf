/** Deliveries over a real Postgres and real sockets, with wall time that stands still until a test moves it. */
import type { Test } from 'tap'
import { v7 } from 'uuid'
import type { Tenant } from '../../domain/access/organization.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { Deliveries } from '../../domain/webhooks/deliveries.ts'
import type { WholeDelivery } from '../../domain/webhooks/delivery-store.ts'
import { Dispatcher, type DispatcherDeps } from '../../domain/webhooks/dispatcher.ts'
import type { WebhookEventType } from '../../domain/webhooks/endpoint.ts'
import { createWebhookClient, type WebhookClientOptions } from '../../providers/wire/webhook-client.ts'
import { systemClock } from '../../runtime/clock.ts'
import { createDeadlines } from '../../runtime/outbound/deadlines.ts'
import { connectOnce } from '../../store/connect.ts'
import type { Store } from '../../store/store.ts'
import { transactionEach } from '../../store/tenant.ts'
import { enqueue } from '../../store/webhook-outbox.ts'
import { organization, silent, type TestCluster } from '../store/cluster.ts'
import { type EndpointColumns, insertEndpoint } from './recorded.ts'

export type SetClock = Clock & { set(nowMs: number): void; advance(ms: number): void }

/** Real timers, and a wall time that stands still. */
export function setClock(startMs = Date.parse('2026-11-22T12:00:00.000Z')): SetClock {
  let nowMs = startMs
  return {
    ...systemClock,
    nowMs: () => nowMs,
    set: (ms) => {
      nowMs = ms
    },
    advance: (ms) => {
      nowMs += ms
    },
  }
}

export type Emitted = {
  type?: WebhookEventType
  callId?: string
  version?: number
  payload?: object
  body?: Uint8Array
}

export type Outbox = {
  tenant: Tenant
  /** The id of a new endpoint. */
  endpoint(url: string, columns?: EndpointColumns): Promise<string>
  /** The id of a new event for these endpoints. */
  emit(endpointIds: string | readonly string[], event?: Emitted): Promise<string>
  /** The ids of the deliveries, oldest first. */
  ids(): Promise<string[]>
}

export type World = Outbox & {
  clock: SetClock
  store: Store
  sql: ReturnType<TestCluster['sql']>
  deliveries: Deliveries
  dispatcher(more?: Partial<DispatcherDeps>): Dispatcher
  /** Polls, and waits until nothing is under way. */
  settle(dispatcher: Dispatcher): Promise<void>
  whole(id: string): Promise<WholeDelivery>
}

export type WorldOptions = { client?: Partial<WebhookClientOptions>; clock?: SetClock }

/** A database with an organization. */
export async function openWorld(t: Test, cluster: TestCluster, options: WorldOptions = {}): Promise<World> {
  const { clock = setClock() } = options
  const databaseUrl = await cluster.database()
  const store = await cluster.store(t, databaseUrl, { clock, serves: false, connectionsMax: 4 })
  const sql = cluster.sql(t, databaseUrl)
  const outbox = await openOutbox(t, store, databaseUrl, sql, clock)
  const client = createWebhookClient({
    guard: { allowedSubnets: ['127.0.0.0/8'] },
    monotonicMs: systemClock.monotonicMs,
    connectionsMax: 40,
    ...options.client,
  })
  t.teardown(() => client.close())
  const shared = {
    client,
    clock,
    deadline: createDeadlines(systemClock),
    attemptId: v7,
    queue: store.webhookQueue,
    targets: store.webhookTargets,
  }
  const deps = { ...shared, log: silent, random: () => 0.5, limits: { max: 512, endpointMax: 32 } }
  return {
    ...outbox,
    clock,
    store,
    sql,
    deliveries: new Deliveries({ ...shared, store: store.webhookDeliveries, requestedMax: 8 }),
    dispatcher: (more) => {
      const dispatcher = new Dispatcher({ ...deps, ...more })
      t.teardown(() => dispatcher.stop(1_000))
      return dispatcher
    },
    async settle(dispatcher) {
      await dispatcher.poll()
      for (let calm = 0; calm < 3; ) {
        await new Promise((resolve) => setTimeout(resolve, 15))
        const [{ count }] = await sql<[{ count: number }]>`
          select count(*)::int as count from webhook_deliveries
          where status = 'delivering' or (status = 'pending' and due_at <= ${new Date(clock.nowMs())}
            and expires_at > ${new Date(clock.nowMs())})`
        calm = count === 0 ? calm + 1 : 0
      }
    },
    async whole(id) {
      const found = await store.webhookDeliveries.find(outbox.tenant, id)
      if (found === null) throw new Error(`no delivery ${id}`)
      return found
    },
  }
}

async function openOutbox(
  t: Test,
  store: Store,
  databaseUrl: string,
  sql: ReturnType<TestCluster['sql']>,
  clock: Clock,
): Promise<Outbox> {
  const { id: organizationId } = await organization(store, 'of a test')
  const tenant = { organizationId, test: false }
  const connection = connectOnce({ databaseUrl }, 'outbox of a test')
  t.teardown(() => connection.end({ timeout: 1 }))
  const worlds = transactionEach(connection)
  return {
    tenant,
    endpoint: (url, columns = {}) =>
      insertEndpoint(sql, tenant, url, clock.nowMs(), { name: 'an endpoint', ...columns }),
    async emit(endpointIds, { type = 'call.status', callId = v7(), version, payload, body } = {}) {
      const id = v7()
      const nowMs = clock.nowMs()
      const event = {
        id,
        type,
        callId,
        agentId: null,
        tags: { team: 'shop' },
        version: version ?? null,
        body: body ?? Buffer.from(JSON.stringify({ type, id, ...payload })),
        occurredAtMs: nowMs,
        createdAtMs: nowMs,
      }
      const endpoints = [endpointIds].flat().map((endpointId) => ({ id: endpointId, name: 'an endpoint' }))
      await worlds.asTenant(tenant, (tx) => enqueue(tx, tenant, event, endpoints))
      return id
    },
    async ids() {
      const rows = await sql<{ id: string }[]>`select id from webhook_deliveries order by created_at, id`
      return rows.map((row) => row.id)
    },
  }
}
