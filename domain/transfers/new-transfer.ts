import type { Destination, Transfer, TransferSettings } from '../records/transfer.ts'

type Identity = Pick<Transfer, 'organizationId' | 'test' | 'id' | 'callId' | 'callerIdentity' | 'legId'>

/** Makes a new transfer attempt to one destination. */
export function newTransfer(
  identity: Identity,
  { kind, outboundTrunkId }: TransferSettings,
  { to, label, metadata, screeningPrompt }: Destination,
  summary: string | null,
  nowMs: number,
): Transfer {
  return {
    ...identity,
    ...{ kind, to, label, metadata, outboundTrunkId, screeningPrompt, summary },
    ...{ status: 'requested', failureCause: null, voicemailDetected: false, fallback: null },
    recipientIdentity: `transfer_${identity.id}`,
    ...{ createdAtMs: nowMs, updatedAtMs: nowMs, completedAtMs: null },
  }
}
