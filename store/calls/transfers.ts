/** Stores attempts to transfer calls. They are written with the call's other entries. */
import { transferPayload } from '../../domain/calls/transfer-payload.ts'
import type { Call, CallEntry, CallEvent } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { EndReason } from '../../domain/records/states/call.ts'
import { isOver } from '../../domain/records/states/transfer.ts'
import { hasCompletedAttempt, type Transfer, type TransferStore } from '../../domain/records/transfer.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull, isUuid, storable } from '../postgres/row-values.ts'
import type { Worlds } from '../postgres/tenant.ts'

type Row = Omit<Transfer, 'createdAtMs' | 'updatedAtMs' | 'completedAtMs'> & {
  createdAt: Date
  updatedAt: Date
  completedAt: Date | null
}

export function createTransferStore(worlds: Worlds): TransferStore {
  return {
    find: async (tenant, callId, id) => {
      if (!isUuid(callId) || !isUuid(id)) return null
      const ofCall = await worlds.asTenant(tenant, (tx) => readTransfers(tx, tenant, callId))
      return ofCall.find((transfer) => transfer.id === id) ?? null
    },
    list: async (tenant, callId) =>
      isUuid(callId) ? worlds.asTenant(tenant, (tx) => readTransfers(tx, tenant, callId)) : [],
  }
}

/** Stores transfers. If an attempt has several changes, only the last change is written. */
export async function storeTransfers(tx: Tx, transfers: readonly Transfer[]): Promise<void> {
  for (const transfer of new Map(transfers.map((each) => [each.id, each])).values()) {
    await storeTransfer(tx, transfer)
    if (transfer.status === 'completed') await storeBridge(tx, transfer)
  }
}

/**
 * Records on both legs that they are bridged, in the same transaction as the transfer's status. With only one change
 * stored, a dead process's legs would stay open, or two people who are still talking would be hung up.
 */
async function storeBridge(tx: Tx, { organizationId, test, callId, legId, updatedAtMs }: Transfer): Promise<void> {
  await tx`
    update call_legs set bridged_at = ${new Date(updatedAtMs)}
    where organization_id = ${organizationId} and test = ${test} and call_id = ${callId}
      and (id = ${legId} or party = 'caller') and bridged_at is null`
}

/** Makes entries to end a call's open transfer attempts after its process has died. */
export async function endingTransfers(
  tx: Tx,
  call: Call,
  eventId: () => string,
  nowMs: number,
): Promise<{ entries: CallEntry[]; isHandedOver: boolean }> {
  const transfers = await readTransfers(tx, call, call.id)
  const open = transfers.filter(({ status }) => !isOver(status))
  const entries = open.map((transfer, at) => failedEntry(transfer, eventId(), nowMs + at))
  return { entries, isHandedOver: transfers.at(-1)?.status === 'completed' }
}

/**
 * Returns the reason for the end of a call with a dead process. If the phone line had connected two people, they go on
 * talking, so the call counts as transferred.
 */
export function reasonAfterDeath(reason: EndReason, isHandedOver: boolean): EndReason {
  return reason === 'worker_lost' && isHandedOver ? 'transferred' : reason
}

function failedEntry(open: Transfer, id: string, nowMs: number): CallEntry {
  const transfer: Transfer = {
    ...open,
    status: 'failed',
    failureCause: 'carrier_error',
    updatedAtMs: nowMs,
    completedAtMs: nowMs,
  }
  const event: CallEvent = {
    id,
    provider: 'service',
    type: 'transfer.failed',
    status: null,
    failureCause: transfer.failureCause,
    occurredAtMs: nowMs,
    payload: transferPayload({ transfer, nextTransferId: null }),
  }
  return { kind: 'transfer', event, transfer }
}

async function storeTransfer(tx: Tx, transfer: Transfer): Promise<void> {
  const { organizationId, test, id, callId, kind, status, failureCause, to, legId } = transfer
  const { label, screeningPrompt, summary } = transfer
  const fallback = transfer.fallback && storable(JSON.stringify(transfer.fallback))
  const metadata = storable(JSON.stringify(transfer.metadata))
  const updatedAt = new Date(transfer.updatedAtMs)
  const completedAt = dateOrNull(transfer.completedAtMs)
  await tx`
    insert into transfers (organization_id, test, id, call_id, kind, status, failure_cause, to_number, label, leg_id,
      caller_identity, recipient_identity, outbound_trunk_id, screening_prompt, summary, voicemail_detected, metadata, fallback,
      created_at, updated_at, completed_at)
    values (${organizationId}, ${test}, ${id}, ${callId}, ${kind}, ${status}, ${failureCause}, ${to},
      ${label && storable(label)}, ${legId}, ${transfer.callerIdentity}, ${transfer.recipientIdentity},
      ${transfer.outboundTrunkId}, ${screeningPrompt && storable(screeningPrompt)}, ${summary && storable(summary)},
      ${transfer.voicemailDetected}, ${metadata}::text::json, ${fallback}::text::json,
      ${new Date(transfer.createdAtMs)}, ${updatedAt},
      ${completedAt})
    on conflict (organization_id, test, id) do update set status = excluded.status,
      failure_cause = excluded.failure_cause, voicemail_detected = excluded.voicemail_detected, summary = excluded.summary,
      metadata = excluded.metadata, fallback = excluded.fallback, updated_at = excluded.updated_at, completed_at = excluded.completed_at`
}

/** Returns true if a recipient has accepted the call. */
export async function hasCompletedTransfer(tx: Tx, call: Tenant & { id: string }): Promise<boolean> {
  return hasCompletedAttempt(await readTransfers(tx, call, call.id))
}

/** Reads a call's transfer attempts, oldest first. */
export async function readTransfers(tx: Tx, { organizationId, test }: Tenant, callId: string): Promise<Transfer[]> {
  const rows = await tx<Row[]>`
    select organization_id as "organizationId", test, id, call_id as "callId", kind, status,
      failure_cause as "failureCause", to_number as "to", label, leg_id as "legId",
      caller_identity as "callerIdentity", recipient_identity as "recipientIdentity",
      outbound_trunk_id as "outboundTrunkId", screening_prompt as "screeningPrompt", summary,
      voicemail_detected as "voicemailDetected", metadata, fallback, created_at as "createdAt", updated_at as "updatedAt",
      completed_at as "completedAt"
    from transfers where organization_id = ${organizationId} and test = ${test} and call_id = ${callId}
    order by created_at, id`
  return rows.map(({ createdAt, updatedAt, completedAt, ...row }) => ({
    ...row,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
    completedAtMs: completedAt?.getTime() ?? null,
  }))
}
