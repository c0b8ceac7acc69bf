/**
 * Streams webhook events to a client over an open connection, without an endpoint. While a stream is open, its tenant's
 * events are stored even if no endpoint subscribes to them. This continues for `openMs` after the stream, so a client
 * that reconnects in this time misses no event.
 */
import type { CancelSignal, Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { WebhookEventType } from '../records/webhook-endpoint.ts'
import { type OpenStream, OpenStreams } from '../streams/open-streams.ts'

/**
 * An event's position in the storage order. The time is the database's, because the processes' clocks differ. A longer
 * transaction may still store an event at an earlier position afterwards.
 */
export type EventPosition = { storedAtMs: number; id: string }

export type StoredWebhookEvent = {
  id: string
  /** `call.pre_call` is not streamed, because it requires an answer, and a client cannot answer over a stream. */
  type: Exclude<WebhookEventType, 'call.pre_call'>
  callId: string
  version: number | null
  occurredAtMs: number
  body: Uint8Array
}

export interface WebhookStreamStore {
  /**
   * Stores this tenant's events for streams. This ends if `openMs` pass and this method is not called again. Resolves
   * with the database's time.
   */
  keepOpen(tenant: Tenant, openMs: number): Promise<number>
  /** Returns at most `limit` positions in order, after `after` and not older than `fromMs`. */
  positions(tenant: Tenant, fromMs: number, after: EventPosition | null, limit: number): Promise<EventPosition[]>
  /** Resolves with null if the event was removed. */
  find(tenant: Tenant, id: string): Promise<StoredWebhookEvent | null>
  /**
   * Calls `stored` after each event of the tenant, and when an event may have been missed. Returns a function that
   * stops the watch.
   */
  watch(tenant: Tenant, stored: () => void): () => void
}

/**
 * The time of the stream's first start, and the time of the newest event sent since then, both by the database's clock.
 * A client sends both to resume the stream.
 */
export type StreamPosition = { startMs: number; newestMs: number }

export type Streamed = { position: StreamPosition } & (
  | { kind: 'open' }
  | { kind: 'event'; event: StoredWebhookEvent }
  | { kind: 'end' }
)

export type StreamDeps = { store: WebhookStreamStore; clock: Clock }

/** Streams events. If `from` is null, the stream begins now. Rejects with the fault `too_many_at_once`. */
export type StreamWebhookEvents = (
  tenant: Tenant,
  from: StreamPosition | null,
  signal: CancelSignal,
) => Promise<AsyncIterable<Streamed>>

/** The maximum number of streams in this process for one organization, separately for live and test events. */
const streamsMax = 8
const openMs = 60_000
/** The interval for renewing the storage of events. Each time, new events are read even without a notification. */
const renewEveryMs = 15_000
/**
 * An event can become visible after an event with a later time, because transactions take time. So each read begins
 * this long before the newest event.
 */
const overlapMs = 10_000
/** A client cannot resume a stream further back than this. */
const pastMs = 3_600_000
const pageMax = 500

export function createStreamWebhookEvents(deps: StreamDeps): StreamWebhookEvents {
  const streams = new OpenStreams(deps.clock, { streamsMax, limit: 'organization' })
  return async (tenant, from, signal) => {
    const opened = streams.open(`${tenant.organizationId} ${tenant.test}`, signal)
    try {
      const nowMs = await deps.store.keepOpen(tenant, openMs)
      return stream(deps, tenant, withinPast(from ?? { startMs: nowMs, newestMs: nowMs }, nowMs), opened)
    } catch (error) {
      opened.end()
      throw error
    }
  }
}

function withinPast({ startMs, newestMs }: StreamPosition, nowMs: number): StreamPosition {
  const start = Math.max(startMs, nowMs - pastMs)
  return { startMs: start, newestMs: Math.max(newestMs, start) }
}

async function* stream(
  { store, clock }: StreamDeps,
  tenant: Tenant,
  from: StreamPosition,
  opened: OpenStream,
): AsyncGenerator<Streamed> {
  const reader = new Reader(store, tenant, from)
  const end = yield* opened.read({
    watch(ring) {
      const unwatch = store.watch(tenant, ring)
      const endLease = renewLease(store, clock, tenant, ring)
      return () => {
        endLease()
        unwatch()
      }
    },
    news: () => reader.news(),
    isOver: () => false,
  })
  if (end !== 'timeout') return
  // Gives the client the full `openMs` to reconnect.
  await store.keepOpen(tenant, openMs).catch(() => {})
  yield { kind: 'end', position: reader.position }
}

/**
 * Renews the storage of events while the client reads slowly. Otherwise new events would not be stored. Returns a
 * function that stops the renewal.
 */
function renewLease(store: WebhookStreamStore, clock: StreamDeps['clock'], tenant: Tenant, ring: () => void) {
  let cancel = () => {}
  const plan = () => {
    cancel = clock.after(renewEveryMs, () => {
      // If the database is unreachable, the next read fails too and ends the stream.
      void store.keepOpen(tenant, openMs).catch(() => {})
      ring()
      plan()
    })
  }
  plan()
  return () => cancel()
}

class Reader {
  readonly #store: WebhookStreamStore
  readonly #tenant: Tenant
  #position: StreamPosition
  #isOpen = false
  /** Times of events already sent, by event id. Each read returns some of these events again, and they are skipped. */
  readonly #sent = new Map<string, number>()

  constructor(store: WebhookStreamStore, tenant: Tenant, from: StreamPosition) {
    this.#store = store
    this.#tenant = tenant
    this.#position = from
  }

  get position(): StreamPosition {
    return this.#position
  }

  async *news(): AsyncGenerator<Streamed> {
    if (!this.#isOpen) yield { kind: 'open', position: this.#position }
    this.#isOpen = true
    const { startMs, newestMs } = this.#position
    const sinceMs = Math.max(startMs, newestMs - overlapMs)
    let after: EventPosition | null = null
    for (;;) {
      const page: EventPosition[] = await this.#store.positions(this.#tenant, sinceMs, after, pageMax)
      for (const { id, storedAtMs } of page) {
        if (this.#sent.has(id)) continue
        // Reads one event at a time: a report can have 4 MiB, and the client may read slowly.
        const event = await this.#store.find(this.#tenant, id)
        this.#sent.set(id, storedAtMs)
        this.#position = { startMs, newestMs: Math.max(this.#position.newestMs, storedAtMs) }
        if (event !== null) yield { kind: 'event', event, position: this.#position }
      }
      after = page.at(-1) ?? null
      if (page.length < pageMax) break
    }
    for (const [id, atMs] of this.#sent) if (atMs < this.#position.newestMs - overlapMs) this.#sent.delete(id)
  }
}
