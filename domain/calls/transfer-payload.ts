/** Converts a transfer to the contract's fields, for event payloads and operation answers. */
import type { DoneFallback, Transfer, TransferChange } from '../records/transfer.ts'

export function transferRow(transfer: Transfer) {
  const { id, callId, organizationId, kind, status, to, completedAtMs } = transfer
  return {
    id,
    session_id: callId,
    organization_id: organizationId,
    kind,
    status,
    transfer_to: to,
    label: transfer.label,
    from_room_name: `room-${callId}`,
    consultation_room_name: kind === 'warm' ? `room-${id}` : null,
    caller_participant_identity: transfer.callerIdentity,
    recipient_participant_identity: transfer.recipientIdentity,
    outbound_trunk_id: transfer.outboundTrunkId,
    screening_prompt: transfer.screeningPrompt,
    summary: transfer.summary,
    voicemail_detected: transfer.voicemailDetected,
    failure_cause: transfer.failureCause,
    metadata: { ...transfer.metadata },
    created_at: iso(transfer.createdAtMs),
    updated_at: iso(transfer.updatedAtMs),
    completed_at: completedAtMs === null ? null : iso(completedAtMs),
  }
}

export function fallbackRow(fallback: DoneFallback | null) {
  return (
    fallback && {
      action: fallback.action,
      message: fallback.message,
      take_message_prompt: fallback.takeMessagePrompt,
      hold_audio_url: fallback.holdAudioUrl,
      voicemail_detected: fallback.voicemailDetected,
    }
  )
}

export function transferPayload({ transfer, nextTransferId }: TransferChange): Record<string, unknown> {
  return {
    ...transferRow(transfer),
    next_transfer_id: nextTransferId,
    fallback: fallbackRow(transfer.fallback),
  }
}

const iso = (ms: number) => new Date(ms).toISOString()
