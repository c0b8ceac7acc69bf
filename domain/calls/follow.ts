/** Follows a call: its status, its turns and its events, as they are stored, from a position on. */
import type { Tenant } from '../access/organization.ts'
import { Fault } from '../fault.ts'
import type { CancelSignal, Clock } from '../ports/system.ts'
import { ResourceFault } from '../resource-fault.ts'
import { Wake } from '../wake.ts'
import type { Turn } from './call.ts'
import { type CallStatus, isTerminal } from './states.ts'
import type { CallChanges, CallRecord, CallStore, StoredEvent } from './store.ts'

/** The turns and events up to these were sent. Events from that millisecond on are sent again. */
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

/** A stream ends after this time, and its client goes on with another one. */
const streamMs = 600_000
/** Streams of one session in this process. */
const streamsMax = 32
/**
 * The owner of a call gathers its events before it stores them, and other processes store theirs at once, so an event can
 * come behind one that happened later. This is the most that a stream looks back.
 */
const overlapMs = 2000

export type FollowCall = (
  tenant: Tenant,
  id: string,
  from: FollowPosition,
  signal: CancelSignal,
) => Promise<AsyncIterable<Followed>>

/** Rejects with ResourceFault `not_found`, and with the fault too_many_at_once. */
export function createFollowCall(deps: FollowDeps): FollowCall {
  const open = new Map<string, number>()
  const count = (id: string, by: 1 | -1) => {
    const streams = (open.get(id) ?? 0) + by
    if (streams > 0) open.set(id, streams)
    else open.delete(id)
  }
  /** A stream counts from here on and not from its first read, so that many at once do not pass the limit together. */
  const begin = (id: string, signal: CancelSignal) => {
    count(id, 1)
    let hasEnded = false
    const end = () => {
      if (!hasEnded) count(id, -1)
      hasEnded = true
      signal.removeEventListener('abort', end)
    }
    // A client that has gone may never read.
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
    return end
  }
  return async (tenant, id, from, signal) => {
    if ((await deps.calls.find(tenant, id)) === null) throw new ResourceFault({ kind: 'not_found' })
    if ((open.get(id) ?? 0) >= streamsMax)
      throw new Fault({ kind: 'too_many_at_once', limit: 'session' }, { retryAfterS: 1 })
    return follow(deps, tenant, id, from, signal, begin(id, signal))
  }
}

async function* follow(
  deps: FollowDeps,
  tenant: Tenant,
  id: string,
  from: FollowPosition,
  signal: CancelSignal,
  ended: () => void,
): AsyncGenerator<Followed> {
  const wake = new Wake()
  const unwatch = deps.changes.watch(id, () => wake.ring())
  const ring = () => wake.ring()
  signal.addEventListener('abort', ring)
  let isLate = false
  const cancel = deps.clock.after(streamMs, () => {
    isLate = true
    wake.ring()
  })
  try {
    const reader = new Reader(deps, tenant, id, from)
    while (!signal.aborted) {
      wake.reset()
      yield* reader.news()
      if (reader.hasEnded || isLate) {
        const reason = reader.hasEnded ? 'session_ended' : 'timeout'
        yield { kind: 'end', reason, position: reader.position }
        return
      }
      await wake.rung()
    }
  } finally {
    cancel()
    signal.removeEventListener('abort', ring)
    unwatch()
    ended()
  }
}

class Reader {
  readonly #deps: FollowDeps
  readonly #tenant: Tenant
  readonly #id: string
  #position: FollowPosition
  #status: CallStatus | null = null
  /** Nothing from before it is sent. */
  readonly #fromMs: number
  /** The events of the time that is read again, by their id. */
  readonly #sent = new Map<string, number>()

  constructor(deps: FollowDeps, tenant: Tenant, id: string, from: FollowPosition) {
    this.#deps = deps
    this.#tenant = tenant
    this.#id = id
    this.#position = from
    this.#fromMs = from.eventMs
  }

  get position(): FollowPosition {
    return this.#position
  }

  get hasEnded(): boolean {
    return this.#status !== null && isTerminal(this.#status)
  }

  /** The row is read first: all that its transaction has stored is read after it. */
  async *news(): AsyncGenerator<Followed> {
    const { calls, record } = this.#deps
    const call = await calls.find(this.#tenant, this.#id)
    if (call === null) throw new ResourceFault({ kind: 'not_found' })
    const { turn, eventMs } = this.#position
    const turns = await record.turns(this.#tenant, this.#id, turn)
    const sinceMs = Math.max(this.#fromMs, eventMs - overlapMs)
    const events = await record.events(this.#tenant, this.#id, sinceMs)
    if (call.status !== this.#status) {
      this.#status = call.status
      yield { kind: 'status', status: call.status, endedAtMs: call.endedAtMs, position: this.#position }
    }
    for (const each of turns) {
      this.#position = { ...this.#position, turn: each.index }
      yield { kind: 'turn', turn: each, position: this.#position }
    }
    for (const event of events) {
      if (this.#sent.has(event.id)) continue
      this.#sent.set(event.id, event.occurredAtMs)
      this.#position = { ...this.#position, eventMs: Math.max(this.#position.eventMs, event.occurredAtMs) }
      yield { kind: 'event', event, position: this.#position }
    }
    for (const [sent, atMs] of this.#sent) if (atMs < this.#position.eventMs - overlapMs) this.#sent.delete(sent)
  }
}
