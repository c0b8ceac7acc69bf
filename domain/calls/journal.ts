/**
 * Keeps a live call's entries in memory until they are stored. Entries are written in their order, several at a time.
 * If the database is unreachable, the write is repeated after a pause, so a conversation never waits for the database.
 * An entry is lost only if `waitingMax` entries wait already, or if the database refuses it.
 *
 *   a conversation ──► entries of its call, in memory ──► append: one transaction for all gathered entries
 */
import type { CallLog } from '../conversation/parts/call-log.ts'
import type { CallMetrics, Clock, Log } from '../ports/system.ts'
import type { Traces } from '../ports/trace.ts'
import type { Call, CallChange, CallEntry, CallEvent, EventType } from '../records/call.ts'
import { createCallTime } from '../records/call-time.ts'
import { type CallbackRequest, newCallback } from '../records/callback.ts'
import { Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import {
  type CallStatus,
  type EndReason,
  endPayload,
  endStatus,
  failureCause,
  isTerminal,
  mayMove,
} from '../records/states/call.ts'
import type { TransferChange } from '../records/transfer.ts'
import type { CallStore } from './store.ts'
import { transferPayload } from './transfer-payload.ts'
import { summaryTurnsMax } from './transfer-summary.ts'

export type JournalDeps = {
  calls: Pick<CallStore, 'append'>
  clock: Clock
  log: Log
  /** Returns a new UUIDv7. */
  eventId: () => string
  callbackId: () => string
  /** Called after a call's end was stored. */
  ended: (tenant: Tenant, callId: string) => void
  /** Absent or null if calls are not traced. */
  traces?: Traces | null
  /** Absent if no metrics are collected about calls. */
  metrics?: CallMetrics
}

export interface Journal {
  /** Opens a call's record. This process must own the call. */
  open(call: Call): PhoneLog
}

/** Records a phone call. Unlike a browser's session, a phone call has a record before its conversation begins. */
export interface PhoneLog extends CallLog {
  /** Records the call's new status with its event. */
  reached(status: PhoneStatus): void
  /** Records that a transfer attempt has begun or changed. */
  transfer(change: TransferChange): void
  /**
   * Records an event from the call's carrier or trunk. `sipCode` is the SIP status code from the remote party or its
   * carrier.
   */
  line(type: CarrierEventType, payload: Record<string, unknown>, sipCode?: number | null): void
  ended(reason: EndReason, clientReason?: string, sipCode?: number | null): Promise<void>
  /** Returns the caller's last turns, oldest first. Turns with DTMF digits are left out. */
  lastSaid(): readonly string[]
  /** Resolves when all waiting entries are stored. */
  stored(): Promise<void>
}

/**
 * The statuses that `reached` records. `connected` records the first `in_progress`. `reached` records `in_progress`
 * again when a transfer attempt is over and the caller is connected to the recipient or to the agent.
 */
export type PhoneStatus = Extract<CallStatus, 'dialing' | 'ringing' | 'transferring' | 'in_progress'>
export type CarrierEventType = Extract<EventType, `carrier.${string}`>

/**
 * Entries wait this long for further entries before a write. The time must be short, because a live stream must show an
 * entry within 300 ms.
 */
const gatherMs = 50
const retryMs = 250
/**
 * The maximum number of waiting entries for one call. A turn makes about ten entries, so this is enough for an hour
 * without the database.
 */
const waitingMax = 10_000
const batchMax = 200
/** An entry is dropped after the database has refused it this many times. */
const failuresMax = 20

export function createJournal(deps: JournalDeps): Journal {
  return { open: (call) => new OpenJournal(deps, call) }
}

class OpenJournal implements PhoneLog {
  readonly #deps: JournalDeps
  readonly #call: Call
  readonly #startedMs: number
  readonly #timeOf: (monotonicMs: number) => number
  #status: CallStatus
  #turns = 0
  #eventAtMs = 0
  #lastSaid: readonly string[] = []
  #waiting: CallEntry[] = []
  #isWriting = false
  #isPlanned = false
  #hasDropped = false
  #ended: Promise<void> | null = null
  /** Counts the database's refusals of single entries since an entry was last dropped. */
  #failures = 0
  #whenEmpty: (() => void)[] = []

  constructor(deps: JournalDeps, call: Call) {
    this.#deps = deps
    this.#call = call
    this.#startedMs = deps.clock.monotonicMs()
    this.#status = call.status
    this.#timeOf = createCallTime(deps.clock)
  }

  connected(): void {
    const event = this.#event('call.in_progress', {})
    this.#move('in_progress', event, { startedAtMs: event.occurredAtMs })
  }

  reached(status: PhoneStatus): void {
    this.#move(status, this.#event(`call.${status}`, {}), {})
  }

  line(type: CarrierEventType, payload: Record<string, unknown>, sipCode: number | null = null): void {
    this.#add({ kind: 'event', event: { ...this.#event(type, payload), ...(sipCode !== null && { sipCode }) } })
  }

  event(type: EventType, payload: Record<string, unknown>): void {
    this.#add({ kind: 'event', event: this.#event(type, payload) })
  }

  callback(request: CallbackRequest): void {
    const id = this.#deps.callbackId()
    const event = this.#event('callback.scheduled', { callback_id: id })
    this.#add({ kind: 'callback', event, callback: newCallback(this.#call, request, id, event.occurredAtMs) })
  }

  transfer(change: TransferChange): void {
    const { transfer } = change
    const event = this.#event(`transfer.${transfer.status}`, transferPayload(change))
    this.#add({ kind: 'transfer', event: { ...event, failureCause: transfer.failureCause }, transfer })
  }

  turn(turn: Parameters<CallLog['turn']>[0]): void {
    if (turn.source === 'user' && turn.metadata['dtmf'] !== true)
      this.#lastSaid = [...this.#lastSaid, turn.text].slice(-summaryTurnsMax)
    if (turn.conversationalLatencyMs !== null) this.#deps.metrics?.turnSilence(turn.conversationalLatencyMs)
    this.#add({ kind: 'turn', turn: { ...turn, index: this.#turns++ } })
  }

  lastSaid(): readonly string[] {
    return this.#lastSaid
  }

  span(span: Parameters<CallLog['span']>[0]): void {
    this.#add({ kind: 'span', span })
  }

  recording(...[status, durationMs]: Parameters<CallLog['recording']>): void {
    const event = this.#event(`recording.${status}`, {})
    // Reserves the next millisecond for the `carrier` event that accompanies a recording's end.
    this.#eventAtMs++
    this.#add({ kind: 'recording', event, lineEventId: this.#deps.eventId(), status, durationMs })
  }

  ended(reason: EndReason, clientReason?: string, sipCode: number | null = null): Promise<void> {
    this.#ended ??= this.#end(reason, clientReason, sipCode)
    return this.#ended
  }

  async #end(reason: EndReason, clientReason: string | undefined, sipCode: number | null): Promise<void> {
    if (!isTerminal(this.#status)) this.#moveToEnd(reason, clientReason, sipCode)
    await this.stored()
    const { organizationId, test, id } = this.#call
    this.#deps.ended({ organizationId, test }, id)
  }

  /**
   * Records the call's end. If the reason does not fit the status, the calling code has a defect. The call must end all
   * the same, so it then ends as `failed`.
   */
  #moveToEnd(reason: EndReason, clientReason: string | undefined, sipCode: number | null): void {
    const to = endStatus(this.#status, reason)
    if (to === null) this.#deps.log.error({ ...this.#named(), reason, status: this.#status }, 'a call cannot end so')
    const endReason = to === null ? 'pipeline_failed' : reason
    const status = to ?? 'failed'
    const event = this.#event(`call.${status}`, endPayload(endReason, clientReason))
    event.failureCause = failureCause(status, endReason)
    if (sipCode !== null) event.sipCode = sipCode
    this.#recordCall(status, endReason)
    this.#deps.metrics?.callEnded(this.#call.kind, endReason)
    this.#move(status, event, { endedAtMs: event.occurredAtMs, endReason })
  }

  /** Records the call's root span. */
  #recordCall(status: CallStatus, endReason: EndReason): void {
    const { id, kind, agentId } = this.#call
    this.#deps.traces?.call(id).record({
      name: `${kind} call`,
      kind: 'internal',
      startedMs: this.#startedMs,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': agentId ?? undefined,
        'gen_ai.conversation.id': id,
        'parley.call.kind': kind,
        'parley.call.end_reason': endReason,
      },
      ...(status === 'failed' && { failure: endReason }),
    })
  }

  #named(): object {
    const { id } = this.#call
    return { callId: id, ...this.#deps.traces?.call(id).logFields }
  }

  #move(to: CallStatus, event: CallEvent, change: CallChange): void {
    if (!mayMove(this.#status, to)) return
    this.#status = to
    this.#add({ kind: 'move', event: { ...event, status: to }, to, change })
  }

  /** Makes an event. Each event is later than the call's previous event, so sorting by time gives one order. */
  #event(type: EventType, payload: Record<string, unknown>): CallEvent {
    const { clock, eventId } = this.#deps
    this.#eventAtMs = Math.max(this.#timeOf(clock.monotonicMs()), this.#eventAtMs + 1)
    const provider = providerOf(type)
    const occurredAtMs = this.#eventAtMs
    return { id: eventId(), provider, type, status: this.#status, failureCause: null, occurredAtMs, payload }
  }

  #add(entry: CallEntry): void {
    if (this.#waiting.length >= waitingMax && !isEssential(entry)) return this.#drop()
    this.#waiting.push(entry)
    this.#plan(gatherMs)
  }

  #drop(): void {
    if (!this.#hasDropped) this.#deps.log.error(this.#named(), 'entries of a call are lost: too many wait')
    this.#hasDropped = true
  }

  #plan(delayMs: number): void {
    if (this.#isPlanned || this.#isWriting) return
    this.#isPlanned = true
    this.#deps.clock.after(delayMs, () => void this.#write())
  }

  async #write(): Promise<void> {
    this.#isPlanned = false
    this.#isWriting = true
    const batch = this.#waiting.slice(0, batchMax)
    const isStored = await this.#append(batch)
    this.#isWriting = false
    if (isStored) this.#waiting.splice(0, batch.length)
    if (this.#waiting.length > 0) return this.#plan(isStored ? 0 : retryMs)
    for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }

  /**
   * Returns false if the database is unreachable. A refused entry is dropped, because it would block all entries behind
   * it.
   */
  async #append(batch: readonly CallEntry[]): Promise<boolean> {
    const { calls, log } = this.#deps
    const { id: callId } = this.#call
    try {
      const refused = await calls.append(this.#call, callId, batch)
      if (refused.length > 0)
        log.warn({ ...this.#named(), refused: refused.map(nameOf) }, 'entries of a call were refused')
      return true
    } catch (err) {
      if (err instanceof Fault) return false
      if (batch.length === 1) {
        if (++this.#failures < failuresMax) return false
        this.#failures = 0
        log.error({ err, ...this.#named(), entries: batch.map(nameOf) }, 'an entry of a call could not be stored')
        return true
      }
    }
    for (const entry of batch) if (!(await this.#append([entry]))) return false
    return true
  }

  stored(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve)
    })
  }
}

function providerOf(type: EventType): CallEvent['provider'] {
  if (type.startsWith('carrier.')) return 'carrier'
  return /^(room|recording)\./.test(type) ? 'media' : 'service'
}

function nameOf(entry: CallEntry): string {
  return 'event' in entry ? entry.event.type : entry.kind
}

/**
 * Returns true if the entry is stored even when too many entries wait. A call must not lose its end or a promised
 * callback. If a completed transfer were lost, the legs of the two people still talking would be hung up as orphans. A
 * call has few such entries.
 */
function isEssential({ kind }: CallEntry): boolean {
  return kind === 'move' || kind === 'callback' || kind === 'transfer'
}
