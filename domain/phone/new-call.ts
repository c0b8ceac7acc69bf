/** Makes a new phone call: its row, the leg of the person on the phone, and the reserved metadata. */
import type { LineName } from '../ports/phone-line.ts'
import type { Call, CallPhone } from '../records/call.ts'
import type { Leg } from '../records/leg.ts'
import type { PriceOfLeg } from '../records/leg-costs.ts'
import type { Tenant } from '../records/organization.ts'
import type { SessionSettings } from '../sessions/pre-call.ts'

export type NewCall = Tenant & {
  id: string
  agentId: string | null
  keyId: string
  kind: 'inbound' | 'outbound' | 'rmsg'
  phone: CallPhone
  settings: SessionSettings
  webhookTags: Record<string, string>
  ownerId: string
  nowMs: number
}

/** An unanswered call expires after this time. Normally its process has ended it earlier. */
const expiresMs = 300_000

export function newPhoneCall({ settings, nowMs, ...call }: NewCall): Call {
  const { pipeline, metadata } = withReserved(settings, call.phone)
  return {
    ...call,
    status: 'queued',
    identity: `phone_${call.id}`,
    pipeline,
    metadata,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + expiresMs,
    startedAtMs: null,
    endedAtMs: null,
    endReason: null,
    recordingStatus: null,
    recordingDurationMs: null,
  }
}

/** Adds the reserved metadata keys. Neither a request nor an endpoint can override them. */
export function withReserved(settings: SessionSettings, phone: CallPhone): SessionSettings {
  const { direction, from, to, forwardedFrom, phoneNumberId } = phone
  const reserved = {
    callerNumber: from,
    dialedNumber: to,
    forwardedFromNumber: forwardedFrom,
    phoneNumberId,
    direction,
  }
  return { ...settings, metadata: { ...settings.metadata, ...reserved } }
}

/** Makes the leg of the person who talks to the agent. */
export function callerLeg(
  { organizationId, test, id, phone, createdAtMs }: Call,
  line: LineName,
  priceOf: PriceOfLeg,
): Omit<Leg, 'carrierLegId'> {
  if (phone === null) throw new Error('a browser has no leg')
  const { direction, to } = phone
  return {
    organizationId,
    test,
    id: phone.legId,
    callId: id,
    party: 'caller',
    direction,
    line,
    createdAtMs,
    answeredAtMs: null,
    endedAtMs: null,
    microUsdPerMinute: priceOf({ direction, line, test, to }),
  }
}
