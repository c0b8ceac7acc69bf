/**
 * Runs deliveries over a real Postgres and real sockets. The time of day stands still until a test moves it. Timers run
 * in real time, or on the test's clock.
 */
import type { Test } from 'tap'
import { v7 } from 'uuid'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { WebhookEventType } from '../../domain/records/webhook-endpoint.ts'
import { Deliveries } from '../../domain/webhooks/deliveries.ts'
import type { WholeDelivery } from '../../domain/webhooks/delivery-store.ts'
import { Dispatcher, type DispatcherDeps } from '../../domain/webhooks/dispatcher.ts'
import { createWebhookClient, type WebhookClientOptions } from '../../providers/wire/webhook-client.ts'
import { createDeadlines } from '../../runtime/outbound/deadlines.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import type { Store } from '../../store/store.ts'
import type { TestClock } from '../clock.ts'
import { passing } from '../router/requests.ts'
import { organization, silent, type TestCluster } from '../store/cluster.ts'
import { type EndpointColumns, insertEndpoint } from './recorded.ts'
import { eventOf, openStoredEvents } from './stored-events.ts'

export type SetClock = Clock & { set(nowMs: number): void; advance(ms: number): void }

/** A clock with real timers. Its wall time stands still. */
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

/** Returns a wall clock that a test can set. The test clock moves its time and its timers. */
function timeOf(time: TestClock): SetClock {
  return {
    nowMs: () => time.nowMs(),
    monotonicMs: () => time.monotonicMs(),
    after: (delayMs, run) => time.after(delayMs, run),
    set: (ms) => {
      time.setMs += ms - time.nowMs()
    },
    advance: (ms) => {
      time.setMs += ms
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
  /** Returns the new endpoint's id. */
  endpoint(url: string, columns?: EndpointColumns): Promise<string>
  /** Returns the id of a new event for these endpoints. */
  emit(endpointIds: string | readonly string[], event?: Emitted): Promise<string>
  /** The delivery ids, oldest first. */
  ids(): Promise<string[]>
}

export type World = Outbox & {
  clock: SetClock
  store: Store
  sql: ReturnType<TestCluster['sql']>
  deliveries: Deliveries
  /** Another organization. */
  other(): Promise<Outbox>
  /** Opens another process with a clock ahead by `aheadMs`. */
  another(aheadMs: number): Promise<Store>
  /** Lets time pass for the processes and for the database, because the database decides when a lease is over. */
  pass(ms: number): Promise<void>
  dispatcher(more?: Partial<DispatcherDeps>): Dispatcher
  /** Lets the dispatcher poll once, and waits until no attempt is under way. */
  settle(dispatcher: Dispatcher): Promise<void>
  whole(id: string): Promise<WholeDelivery>
}

export type WorldOptions = { client?: Partial<WebhookClientOptions>; clock?: SetClock; time?: TestClock }

/** Makes a database with an organization. */
export async function openWorld(t: Test, cluster: TestCluster, options: WorldOptions = {}): Promise<World> {
  const { time, clock = time === undefined ? setClock() : timeOf(time) } = options
  const databaseUrl = await cluster.database()
  const store = await cluster.store(t, databaseUrl, { clock, serves: false, connectionsMax: 4 })
  const sql = cluster.sql(t, databaseUrl)
  const outbox = await openOutbox(t, store, databaseUrl, sql, clock)
  const client = createWebhookClient({
    guard: { allowedSubnets: ['127.0.0.0/8'] },
    clock,
    connectionsMax: 40,
    ...options.client,
  })
  t.teardown(() => client.close())
  const shared = {
    client,
    clock,
    deadline: createDeadlines(clock),
    attemptId: v7,
    queue: store.webhookQueue,
    targets: store.webhookTargets,
    metrics: { webhookAttempt() {} },
  }
  const deps = { ...shared, log: silent, random: () => 0.5, limits: { max: 512, endpointMax: 32 } }
  return {
    ...outbox,
    clock,
    store,
    sql,
    deliveries: new Deliveries({ ...shared, store: store.webhookDeliveries, requestedMax: 8 }),
    other: () => openOutbox(t, store, databaseUrl, sql, clock),
    another: (aheadMs) =>
      cluster.store(t, databaseUrl, {
        clock: { ...clock, nowMs: () => clock.nowMs() + aheadMs },
        serves: false,
        connectionsMax: 2,
      }),
    async pass(ms) {
      clock.advance(ms)
      await sql`
        update webhook_deliveries set claimed_until = claimed_until - ${ms} * interval '1 millisecond'
        where claimed_until is not null`
    },
    dispatcher: (more) => {
      const dispatcher = new Dispatcher({ ...deps, ...more })
      t.teardown(() => passing(time === undefined ? {} : { clock: time }, dispatcher.stop(1_000)))
      return dispatcher
    },
    async settle(dispatcher) {
      await dispatcher.poll()
      const isCalm = async () => {
        const [{ count }] = await sql<[{ count: number }]>`
          select count(*)::int as count from webhook_deliveries
          where status = 'delivering' or (status = 'pending' and due_at <= ${new Date(clock.nowMs())}
            and expires_at > ${new Date(clock.nowMs())})`
        return count === 0
      }
      if (time !== undefined) return time.until('the end of all attempts', isCalm)
      for (let calm = 0; calm < 3; ) {
        await new Promise((resolve) => setTimeout(resolve, 15))
        calm = (await isCalm()) ? calm + 1 : 0
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
  const events = openStoredEvents(databaseUrl)
  t.teardown(() => events.close())
  return {
    tenant,
    endpoint: (url, columns = {}) =>
      insertEndpoint(sql, tenant, url, clock.nowMs(), { name: 'an endpoint', ...columns }),
    emit(endpointIds, { payload, ...more } = {}) {
      const event = eventOf(clock.nowMs(), payload, { tags: { team: 'shop' }, ...more })
      const endpoints = [endpointIds].flat().map((id) => ({ id, name: 'an endpoint' }))
      return events.store(tenant, event, endpoints)
    },
    async ids() {
      const rows = await sql<{ id: string }[]>`select id from webhook_deliveries order by created_at, id`
      return rows.map((row) => row.id)
    },
  }
}
