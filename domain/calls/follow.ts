/** Streams a call's status, turns and stored events from a position on. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import type { Turn } from '../records/call.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import { type CallStatus, isTerminal } from '../records/states/call.ts'
import { type OpenStream, OpenStreams } from '../streams/open-streams.ts'
import type { CallChanges, CallRecord, CallStore, StoredEvent } from './store.ts'

/**
 * The last turn and event sent to the client. An event's position in the stream is the time when it was stored, not the
 * time when it happened, because an event may be stored long after later events: the call's process gathers events, and
 * waits while it cannot reach the database. A stream from this position sends the events that were stored at `eventMs`
 * again.
 */
export type FollowPosition = { turn: number; eventMs: number }

export type Followed = { position: FollowPosition } & (
  | { kind: 'status'; status: CallStatus; endedAtMs: number | null }
  | { kind: 'turn'; turn: Turn }
  | { kind: 'event'; event: StoredEvent }
  | { kind: 'end'; reason: 'session_ended' | 'timeout' }
)

export type FollowDeps = {
  calls: Pick<CallStore, 'find'>
  record: Pick<CallRecord, 'turns' | 'events'>
  changes: CallChanges
  clock: Clock
}

/** The maximum number of streams for one session in this process. */
const streamsMax = 32

export type FollowCall = (
  tenant: Tenant,
  id: string,
  from: FollowPosition,
  signal: CancelSignal,
) => Promise<AsyncIterable<Followed>>

/**
 * The returned function rejects with ResourceFault `not_found` if there is no such call, and with the fault
 * `too_many_at_once` if the session has `streamsMax` streams.
 */
export function createFollowCall(deps: FollowDeps): FollowCall {
  const streams = new OpenStreams(deps.clock, { streamsMax, limit: 'session' })
  return async (tenant, id, from, signal) => {
    if ((await deps.calls.find(tenant, id)) === null) throw new ResourceFault({ kind: 'not_found' })
    return follow(deps, tenant, id, from, streams.open(id, signal))
  }
}

async function* follow(
  deps: FollowDeps,
  tenant: Tenant,
  id: string,
  from: FollowPosition,
  stream: OpenStream,
): AsyncGenerator<Followed> {
  const reader = new Reader(deps, tenant, id, from)
  const end = yield* stream.read({
    watch: (ring) => deps.changes.watch(id, ring),
    news: () => reader.news(),
    isOver: () => reader.hasEnded,
  })
  if (end === 'left') return
  yield { kind: 'end', reason: end === 'over' ? 'session_ended' : 'timeout', position: reader.position }
}

class Reader {
  readonly #deps: FollowDeps
  readonly #tenant: Tenant
  readonly #id: string
  #position: FollowPosition
  #status: CallStatus | null = null
  /**
   * The ids of sent events that were stored at the time of the current position. Each read returns these events again,
   * and they are skipped.
   */
  readonly #sent = new Set<string>()

  constructor(deps: FollowDeps, tenant: Tenant, id: string, from: FollowPosition) {
    this.#deps = deps
    this.#tenant = tenant
    this.#id = id
    this.#position = from
  }

  get position(): FollowPosition {
    return this.#position
  }

  get hasEnded(): boolean {
    return this.#status !== null && isTerminal(this.#status)
  }

  /**
   * Yields the changes since the last position. The call's row is read first, so the reads after it see everything that
   * was stored together with the row.
   */
  async *news(): AsyncGenerator<Followed> {
    const { calls, record } = this.#deps
    const call = await calls.find(this.#tenant, this.#id)
    if (call === null) throw new ResourceFault({ kind: 'not_found' })
    const { turn, eventMs } = this.#position
    const turns = await record.turns(this.#tenant, this.#id, turn)
    const events = await record.events(this.#tenant, this.#id, eventMs)
    if (call.status !== this.#status) {
      this.#status = call.status
      yield { kind: 'status', status: call.status, endedAtMs: call.endedAtMs, position: this.#position }
    }
    for (const each of turns) {
      this.#position = { ...this.#position, turn: each.index }
      yield { kind: 'turn', turn: each, position: this.#position }
    }
    for (const event of inOrderOfStorage(events)) {
      if (this.#sent.has(event.id)) continue
      if (event.createdAtMs > this.#position.eventMs) this.#sent.clear()
      this.#sent.add(event.id)
      this.#position = { ...this.#position, eventMs: event.createdAtMs }
      yield { kind: 'event', event, position: this.#position }
    }
  }
}

/** Events that were stored at the same time keep their order. */
function inOrderOfStorage(events: readonly StoredEvent[]): StoredEvent[] {
  return [...events].sort((one, other) => one.createdAtMs - other.createdAtMs)
}
