/**
 * Calls. Every statement reads or writes one organization's live or test rows. The secrets for a call's tools are
 * sealed, and are removed when the call ends.
 */
import { type Applied, applyEntries } from '../../domain/calls/apply.ts'
import type { CallStore, EndedCall, RoomCall, SalvagedRecording, UnownedEnd } from '../../domain/calls/store.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Call, CallEntry, CallEvent } from '../../domain/records/call.ts'
import { isPromised } from '../../domain/records/callback.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import {
  type CallStatus,
  type EndReason,
  endPayload,
  endStatus,
  failureCause,
  isTerminal,
} from '../../domain/records/states/call.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, dateOrNull, isUuid, readableJson } from '../postgres/row-values.ts'
import { type Tenancy, type Worlds } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents, insertSpans, insertTurns, storedEventIds } from './call-entries.ts'
import { createFactsWork, writeFacts } from './call-facts.ts'
import { listCalls, listCallsOfAgent, listOwnedCalls } from './call-lists.ts'
import { listOverviews, overviewsOf } from './call-overviews.ts'
import { insertFirstReport } from './call-reports.ts'
import { ofCall, readCall } from './call-rows.ts'
import { openedOf } from './call-secrets.ts'
import type { CallWebhooks, ReadAudience } from './call-webhooks.ts'
import { insertPromised, lastCallbackOf } from './callbacks.ts'
import { createNewCalls } from './new-calls.ts'
import { endingTransfers, hasCompletedTransfer, reasonAfterDeath, storeTransfers } from './transfers.ts'

export type CallStoreDeps = {
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  sealer: () => Sealer
  clock: Clock
  log: Log
  webhooks: CallWebhooks
  /** Makes the id for an event, a UUIDv7. */
  eventId: () => string
}

export type StoredCalls = CallStore & {
  /** Ends all calls that no person joined in time. */
  expire(): Promise<void>
}

export function createCallStore(deps: CallStoreDeps): StoredCalls {
  const { worlds, sealer, clock } = deps
  /**
   * The calls whose process was dead at the last check. A call is ended if its process is dead at two checks in a row.
   */
  let suspects: ReadonlySet<string> = new Set()
  return {
    ...createNewCalls(deps),
    find: async (tenant, id) =>
      isUuid(id) ? worlds.asTenant(tenant, async (tx) => (await readCall(tx, tenant, id))?.call ?? null) : null,
    findWithSecrets: async (tenant, id) => {
      if (!isUuid(id)) return null
      const record = await worlds.asTenant(tenant, (tx) => readCall(tx, tenant, id))
      return record && { call: record.call, secrets: openedOf(sealer, record.call, record.secrets) }
    },
    list: (tenant, filter, limit, after) =>
      worlds.asTenant(tenant, (tx) => listCalls(tx, tenant, filter, limit, after)),
    overview: (tenant, query) => worlds.asTenant(tenant, (tx) => listOverviews(tx, tenant, query)),
    overviewsOf: (tenant, filter, ids) => worlds.asTenant(tenant, (tx) => overviewsOf(tx, tenant, filter, ids)),
    listOfAgent: (tenant, agentId, limit, range) =>
      worlds.asTenant(tenant, (tx) => listCallsOfAgent(tx, tenant, agentId, limit, range)),
    claim: async (tenant, id, ownerId, pipeline) =>
      isUuid(id) && worlds.asTenant(tenant, (tx) => claim(tx, tenant, id, { ownerId, pipeline }, clock.nowMs())),
    release: async (tenant, id, ownerId) => {
      if (isUuid(id)) await worlds.asTenant(tenant, (tx) => release(tx, tenant, id, ownerId))
    },
    owned: (organizationId) => worlds.asOperator((tx) => listOwnedCalls(tx, organizationId)),
    inRooms: () => worlds.asOperator(listInRooms),
    countLive: (organizationId) => countOpen(worlds, organizationId, true),
    countQueued: (organizationId) => countOpen(worlds, organizationId, false),
    append: async (tenant, id, entries) => {
      if (!isUuid(id)) return entries
      return worlds.asTenant(tenant, async (tx) => {
        const record = await readCall(tx, tenant, id, true)
        return record === null ? entries : store(tx, deps, record.call, entries)
      })
    },
    endedAmong: (ids) =>
      worlds.asOperator(
        (tx) => tx<EndedCall[]>`
          select organization_id as "organizationId", test, id, end_reason as "endReason" from calls
          where id = any(${arrayLiteral(ids)}::uuid[]) and ended_at is not null`,
      ),
    endUnowned: async (tenant, id, reason, clientReason) => {
      if (!isUuid(id)) return null
      return worlds.asTenant(tenant, async (tx) => {
        const record = await readCall(tx, tenant, id, true)
        return record && endUnowned(tx, deps, record.call, reason, clientReason)
      })
    },
    expire: () =>
      endEach(
        deps,
        'not_joined',
        (tx) => tx`owner_id is null and status = 'queued' and expires_at <= ${new Date(clock.nowMs())}`,
        () => Promise.resolve({ status: 'failed' }),
      ).then(() => undefined),
    completeFacts: createFactsWork(deps),
    endOrphans: async (salvage) => {
      const due = await endEach(
        deps,
        'worker_lost',
        (tx) => tx`
          owner_id is not null and not exists (
            select from instances i where i.id = owner_id and i.alive_until > ${new Date(clock.nowMs())})`,
        salvage,
        suspects,
      )
      suspects = new Set(due)
    },
  }
}

async function claim(
  tx: Tx,
  tenant: Tenant,
  id: string,
  { ownerId, pipeline }: { ownerId: string; pipeline: Pipeline | null },
  nowMs: number,
): Promise<boolean> {
  const changed =
    pipeline === null
      ? tx``
      : tx`, language = ${pipeline.intent.language}, pipeline = ${jsonText(pipeline)}::text::json`
  const { count } = await tx`
    update calls set owner_id = ${ownerId}${changed}
    ${ofCall(tx, tenant, id)} and (owner_id is null or owner_id = ${ownerId})
      and status in ('queued', 'dialing', 'ringing')
      and expires_at > ${new Date(nowMs)}`
  return count > 0
}

/** Counts an organization's open calls, live and test together. */
function countOpen(worlds: CallStoreDeps['worlds'], organizationId: string, isOwned: boolean): Promise<number> {
  return worlds.asOperator(async (tx) => {
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from calls
      where organization_id = ${organizationId} and ended_at is null and (owner_id is not null) = ${isOwned}`
    return row?.count ?? 0
  })
}

/**
 * The maximum number of calls in LiveKit rooms to list, newest first. A process still has its older calls in memory.
 */
const inRoomsMax = 5000

async function listInRooms(tx: Tx): Promise<RoomCall[]> {
  const rows = await tx<(Omit<RoomCall, 'expiresAtMs'> & { expiresAt: Date })[]>`
    select id, identity, organization_id as "organizationId", key_id as "keyId", expires_at as "expiresAt",
      owner_id as "ownerId"
    from calls where ended_at is null and ${readableJson(tx, 'pipeline')}->>'transport' = 'livekit'
    order by created_at desc limit ${inRoomsMax}`
  return rows.map(({ expiresAt, identity, ...row }) => {
    return { ...row, identity: JSON.parse(identity) as string, expiresAtMs: expiresAt.getTime() }
  })
}

async function release(tx: Tx, tenant: Tenant, id: string, ownerId: string): Promise<void> {
  await tx`update calls set owner_id = null ${ofCall(tx, tenant, id)} and owner_id = ${ownerId} and status = 'queued'`
}

const jsonText = (value: unknown) => JSON.stringify(value)

/** Stores call entries, and the rows and events derived from them. The call's row must be locked. */
async function store(tx: Tx, deps: CallStoreDeps, call: Call, entries: readonly CallEntry[]): Promise<CallEntry[]> {
  const storedIds = await storedEventIds(tx, call, entries)
  const nowMs = deps.clock.nowMs()
  const applied = applyEntries(call, entries, (id) => storedIds.has(id), nowMs)
  await insertTurns(tx, call, applied.turns)
  await insertSpans(tx, call, applied.spans)
  await storeTransfers(tx, applied.transfers)
  const replaced = await storeCallbacks(tx, deps, applied)
  const audience = deps.webhooks.audience(tx, call)
  const { next, types } = await closed(tx, applied, audience, nowMs)
  const afterMs = Math.max(nowMs, applied.events.at(-1)?.occurredAtMs ?? 0)
  const closing = types.map((type, at) => closingEvent(deps, type, next.status, afterMs + at + 1))
  const events = [...applied.events, ...replaced, ...closing]
  await insertEvents(tx, call, events, nowMs)
  await update(tx, next, applied.hasEnded)
  await writeFacts(tx, [call.id], nowMs, applied.hasEnded)
  await deps.webhooks.changed(tx, next, events, audience, nowMs)
  await notifyCallChange(tx, call)
  return [...applied.refused]
}

/**
 * Stores callbacks. A new promise replaces the session's earlier callbacks. Returns events for the replaced callbacks.
 */
async function storeCallbacks(tx: Tx, { eventId }: CallStoreDeps, { callbacks }: Applied): Promise<CallEvent[]> {
  const events: CallEvent[] = []
  for (const { callback, event } of callbacks)
    for (const id of await insertPromised(tx, callback))
      events.push({
        ...event,
        id: eventId(),
        type: 'callback.cancelled',
        payload: { callback_id: id, reason: 'replaced' },
      })
  return events
}

/**
 * Stores the call report if the call has ended. If the call never connected, its recording gets the status suppressed.
 */
async function closed(
  tx: Tx,
  { call, hasEnded }: Applied,
  audience: ReadAudience,
  nowMs: number,
): Promise<{ next: Call; types: CallEvent['type'][] }> {
  if (!hasEnded) return { next: call, types: [] }
  const types: CallEvent['type'][] = []
  const isUnrecorded = call.startedAtMs === null && call.recordingStatus === null
  const next: Call = isUnrecorded ? { ...call, recordingStatus: 'suppressed' } : call
  if (isUnrecorded) types.push('recording.suppressed')
  // If no person joined the session, there is no call report.
  if (call.endReason !== 'not_joined') {
    const hasCallback = isPromised(await lastCallbackOf(tx, call))
    const isTransferred = await hasCompletedTransfer(tx, call)
    types.push(await insertFirstReport(tx, call, await audience(), { hasCallback, isTransferred }, nowMs))
  }
  return { next, types }
}

function closingEvent(
  deps: CallStoreDeps,
  type: CallEvent['type'],
  status: CallStatus,
  occurredAtMs: number,
): CallEvent {
  return { id: deps.eventId(), provider: 'service', type, status, failureCause: null, occurredAtMs, payload: {} }
}

async function update(tx: Tx, call: Call, hasEnded: boolean): Promise<void> {
  await tx`
    update calls set status = ${call.status}, updated_at = ${new Date(call.updatedAtMs)},
      started_at = ${dateOrNull(call.startedAtMs)}, ended_at = ${dateOrNull(call.endedAtMs)}, end_reason = ${call.endReason},
      recording_status = ${call.recordingStatus}, recording_duration_ms = ${call.recordingDurationMs},
      owner_id = ${call.ownerId}${hasEnded ? tx`, sealed = null, sealed_by = null` : tx``}
    ${ofCall(tx, call, call.id)}`
}

async function endUnowned(
  tx: Tx,
  deps: CallStoreDeps,
  call: Call,
  reason: EndReason,
  clientReason: string | undefined,
): Promise<UnownedEnd> {
  if (isTerminal(call.status)) return { state: 'ended_before', endedAtMs: call.endedAtMs ?? call.updatedAtMs }
  if (call.ownerId !== null) return { state: 'owned' }
  await end(tx, deps, call, reason, { status: 'failed' }, clientReason)
  return { state: 'ended_now' }
}

/** Ends the call. `recording` tells which part of its recording the dead process has left. */
async function end(
  tx: Tx,
  deps: CallStoreDeps,
  call: Call,
  reason: EndReason,
  recording: SalvagedRecording,
  clientReason?: string,
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const { entries, isHandedOver } = await endingTransfers(tx, call, deps.eventId, nowMs)
  const endReason = reasonAfterDeath(reason, isHandedOver)
  const to = endStatus(call.status, endReason)
  if (to === null) throw new Error(`a call that is ${call.status} cannot end for ${reason}`)
  const endedAtMs = nowMs + entries.length
  const event = {
    id: deps.eventId(),
    provider: 'service' as const,
    type: `call.${to}` as const,
    status: to,
    failureCause: failureCause(to, endReason),
    occurredAtMs: endedAtMs,
    payload: endPayload(endReason, clientReason),
  }
  const move: CallEntry = { kind: 'move', event, to, change: { endedAtMs, endReason } }
  await store(tx, deps, call, [...entries, move, ...recordingOf(deps, call, recording, endedAtMs + 1)])
}

/** Returns the entry for an abandoned recording's new status, unless the call has this status already. */
function recordingOf(deps: CallStoreDeps, call: Call, recording: SalvagedRecording, occurredAtMs: number): CallEntry[] {
  if (call.recordingStatus !== 'recording' && call.recordingStatus !== 'uploading') return []
  const { status } = recording
  if (status === call.recordingStatus) return []
  const event: CallEvent = {
    id: deps.eventId(),
    provider: 'media',
    type: `recording.${status}`,
    status: null,
    failureCause: status === 'failed' ? 'worker_lost' : null,
    occurredAtMs,
    payload: {},
  }
  const durationMs = status === 'ready' ? recording.durationMs : null
  return [{ kind: 'recording', event, lineEventId: deps.eventId(), status, durationMs }]
}

/** The maximum number of calls to end in one run. The next run continues. */
const endedAtOnceMax = 100

/** Ends each call in a separate transaction, so one failure does not block the other calls. */
async function endEach(
  deps: CallStoreDeps,
  reason: EndReason,
  isDue: (tx: Tx) => ReturnType<Tx>,
  salvage: (callId: string) => Promise<SalvagedRecording>,
  among: ReadonlySet<string> | null = null,
): Promise<string[]> {
  const { worlds, log } = deps
  const due = await worlds.asOperator(
    (tx) => tx<(Tenant & { id: string })[]>`
      select organization_id as "organizationId", test, id from calls
      where ended_at is null and ${isDue(tx)} order by created_at limit ${endedAtOnceMax}`,
  )
  const endOne = async ({ id, ...tenant }: Tenant & { id: string }) => {
    const recording = await salvage(id)
    await worlds.asTenant(tenant, async (tx) => {
      const record = await readCall(tx, tenant, id, true)
      const [row] = await tx`select from calls ${ofCall(tx, tenant, id)} and ${isDue(tx)}`
      if (record === null || row === undefined || isTerminal(record.call.status)) return
      await end(tx, deps, record.call, reason, recording)
    })
    log.info({ callId: id, reason }, 'a call was ended that no process holds')
  }
  for (const call of due) {
    if (among !== null && !among.has(call.id)) continue
    try {
      await endOne(call)
    } catch (err) {
      // A Fault means a database outage, so the run stops. Any other error concerns only this call.
      if (err instanceof Fault) throw err
      log.error({ err, callId: call.id, reason }, 'a call that no process holds could not be ended')
    }
  }
  return due.map(({ id }) => id)
}
