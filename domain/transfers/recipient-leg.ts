/** Makes a recipient's leg: its row, and the dial request for the carrier. */
import type { PhoneCall } from '../phone/phone-call.ts'
import type { LegRef, LegToDial } from '../ports/phone-line.ts'
import type { Leg } from '../records/leg.ts'
import type { PriceOfLeg } from '../records/leg-costs.ts'
import type { TransferSettings } from '../records/transfer.ts'

/** The longest limit that carriers accept, because two people may talk as long as they like. */
const timeLimitS = 14_400

export function recipientLeg(
  { call, leg: { organizationId, test }, line }: Pick<PhoneCall, 'call' | 'leg' | 'line'>,
  { id, to, createdAtMs }: { id: string; to: string; createdAtMs: number },
  priceOf: PriceOfLeg,
): Leg {
  return {
    ...{ organizationId, test, id, callId: call.id, party: 'recipient', line: line.name },
    ...{ direction: 'outbound', carrierLegId: null, createdAtMs, answeredAtMs: null, endedAtMs: null },
    microUsdPerMinute: priceOf({ direction: 'outbound', line: line.name, test, to }),
  }
}

/**
 * Makes the dial request. `caller` is the caller's leg: in a blind transfer a SIP trunk may ask the caller's SIP
 * endpoint to make the call.
 */
export function recipientDial(
  { from, ringingTimeoutS, detection, headers, kind, outboundTrunkId }: TransferSettings,
  caller: LegRef | null,
  to: string,
): Omit<LegToDial, 'legId' | 'media' | 'commandId'> {
  return {
    ...(kind === 'blind' && caller !== null && { transferee: caller }),
    ...(outboundTrunkId !== null && { connectionId: outboundTrunkId }),
    ...{ from, to, ringingTimeoutS, timeLimitS, region: null, headers },
    detectsMachine: detection?.mode === 'carrier' ? 'carrier' : null,
  }
}
