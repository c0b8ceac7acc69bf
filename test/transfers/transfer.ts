import { transferPayload } from '../../domain/calls/transfer-payload.ts'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import type { Transfer } from '../../domain/records/transfer.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { newEvent } from '../calls/call.ts'

/** Makes a cancelled attempt. */
export function transferOf({ id: callId, organizationId, test, identity }: Call): Transfer {
  const id = systemIds.session()
  const nowMs = Date.now()
  return {
    id,
    callId,
    organizationId,
    test,
    kind: 'warm',
    status: 'cancelled',
    failureCause: null,
    to: '+15005550017',
    label: 'Sales',
    legId: 'leg_0123456789012345678901',
    callerIdentity: identity,
    recipientIdentity: `transfer_${id}`,
    outboundTrunkId: null,
    screeningPrompt: null,
    summary: 'k4n4ry',
    voicemailDetected: false,
    metadata: {},
    fallback: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    completedAtMs: nowMs,
  }
}

/** Makes the entry that a live call would write. `nextTransferId` is the attempt that follows, if any. */
export function transferred(transfer: Transfer, nextTransferId: string | null = null): CallEntry {
  const { status, failureCause } = transfer
  const payload = transferPayload({ transfer, nextTransferId })
  return { kind: 'transfer', event: newEvent(`transfer.${status}`, { failureCause, payload }), transfer }
}
