/** Ends calls without a process: at a client's request, after the time to join, or if their process has died. */
import type { CallStore, SalvagedRecording, UnownedEnd } from '../../domain/calls/store.ts'
import type { Log } from '../../domain/ports/system.ts'
import type { Call, CallEntry, CallEvent } from '../../domain/records/call.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { type EndReason, endPayload, endStatus, failureCause, isTerminal } from '../../domain/records/states/call.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { type AppendDeps, appendEntries } from './appended-entries.ts'
import { ofCall, readCall } from './call-rows.ts'
import { endingTransfers, reasonAfterDeath } from './transfers.ts'

export type UnownedCallDeps = AppendDeps & { worlds: Worlds & Pick<Tenancy, 'asOperator'>; log: Log }

export type UnownedCalls = Pick<CallStore, 'endUnowned' | 'endOrphans'> & {
  /** Ends all calls that no person joined in time. */
  expire(): Promise<void>
}

export function createUnownedCalls(deps: UnownedCallDeps): UnownedCalls {
  const { worlds, clock } = deps
  /**
   * The calls whose process was dead at the last check. A call is ended if its process is dead at two checks in a row.
   */
  let suspects: ReadonlySet<string> = new Set()
  return {
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

async function endUnowned(
  tx: Tx,
  deps: AppendDeps,
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
  deps: AppendDeps,
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
  await appendEntries(tx, deps, call, [...entries, move, ...recordingOf(deps, call, recording, endedAtMs + 1)])
}

/** Returns the entry for an abandoned recording's new status, unless the call has this status already. */
function recordingOf(deps: AppendDeps, call: Call, recording: SalvagedRecording, occurredAtMs: number): CallEntry[] {
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
  deps: UnownedCallDeps,
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
