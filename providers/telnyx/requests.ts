/** Makes the request bodies for commands to Telnyx. */
import type { LegToDial, MediaEndpoint, RejectCode } from '../../domain/ports/phone-line.ts'
import type { JsonObject } from '../wire/json.ts'
import { clientStateOf } from './client-state.ts'

/** Telnyx' minimum ringing time. For a shorter time we hang up ourselves. */
const ringingSMin = 5

const regions: ReadonlyMap<string | null, string> = new Map(
  Object.entries({
    us: 'US',
    europe: 'Europe',
    canada: 'Canada',
    australia: 'Australia',
    middle_east: 'Middle East',
  }),
)

/** The causes for rejecting a call. Telnyx has only two causes, and chooses the SIP code. */
export const rejectCauses = {
  404: 'CALL_REJECTED',
  480: 'CALL_REJECTED',
  486: 'USER_BUSY',
  503: 'CALL_REJECTED',
} as const satisfies Record<RejectCode, string>

export function dialBody(leg: LegToDial, account: { connectionId: string; webhookUrl: string }): JsonObject {
  const region = regions.get(leg.region)
  const custom = headersOf(leg, (name) => !isUserToUser(name))
  const userToUser = headersOf(leg, isUserToUser)
  return {
    connection_id: account.connectionId,
    webhook_url: account.webhookUrl,
    from: leg.from,
    to: leg.to,
    timeout_secs: Math.max(leg.ringingTimeoutS, ringingSMin),
    time_limit_secs: leg.timeLimitS,
    client_state: clientStateOf(leg.legId),
    command_id: leg.commandId,
    ...(leg.detectsMachine === 'carrier' && { answering_machine_detection: 'detect' }),
    ...(region !== undefined && { sip_region: region }),
    ...(custom.length > 0 && { custom_headers: custom }),
    ...(userToUser.length > 0 && { sip_headers: userToUser }),
    // `link_to` is sent only to simulated trunks. In a transfer a real carrier dials the number and connects both legs
    // itself.
    ...(leg.transferee !== undefined && leg.connectionId !== undefined && { link_to: leg.transferee.carrierLegId }),
    ...(leg.media !== null && { ...streamOf(leg.media), ...rateOf(leg.media) }),
  }
}

/**
 * Returns the fields for a leg's audio stream. Without the mode `rtp` the remote party would hear no sound. Some
 * carrier events repeat the stream's URL, so the token in the URL is valid only once.
 */
export function streamOf({ url, token, sampleRateHz }: MediaEndpoint): JsonObject {
  const codec = sampleRateHz === 8000 ? 'PCMU' : 'L16'
  return {
    stream_url: `${url}?token=${token}`,
    stream_track: 'inbound_track',
    stream_codec: codec,
    stream_bidirectional_mode: 'rtp',
    stream_bidirectional_codec: codec,
  }
}

export const rateOf = ({ sampleRateHz }: MediaEndpoint): JsonObject => ({
  stream_bidirectional_sampling_rate: sampleRateHz,
})

const isUserToUser = (name: string) => name.toLowerCase() === 'user-to-user'

function headersOf({ headers }: LegToDial, isIncluded: (name: string) => boolean): JsonObject[] {
  return Object.entries(headers)
    .filter(([name]) => isIncluded(name))
    .map(([name, value]) => ({ name: isUserToUser(name) ? 'User-to-User' : name, value }))
}
