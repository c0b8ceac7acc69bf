import type { RecordingStatus } from './call.ts'
import type { FaultData } from './fault.ts'
import type { NotDialed } from './not-dialed.ts'
import type { RmsgMessage } from './rmsg-message.ts'
import type { CallbackStatus } from './states/callback.ts'
import type { TransferStatus } from './states/transfer.ts'
import type { VerificationStatus } from './verification.ts'

/** The way to a value inside of what a client sent: names of fields, and places in lists. */
export type ValuePath = readonly (string | number)[]

/** One value that is well formed and breaks a rule all the same. */
export type Issue = { path: ValuePath; problem: Problem }

export type Problem =
  | { kind: 'language_unknown' }
  | { kind: 'timezone_unknown' }
  /** Counted from 1. */
  | { kind: 'template_malformed'; line: number; column: number }
  | { kind: 'template_too_large'; tagsMax: number }
  /** Rendering takes too long, or makes too much text. */
  | { kind: 'template_too_costly' }
  | { kind: 'first_message_missing' }
  | { kind: 'intent_missing' }
  | { kind: 'transport_missing' }
  /** `fault` says what is wrong with the name of the model. */
  | { kind: 'model_unknown'; fault: FaultData }
  | { kind: 'provider_unknown' }
  /** `fault` says which voices there are. */
  | { kind: 'voice_unknown'; fault: FaultData }
  | { kind: 'max_delay_too_short' }
  | { kind: 'repeated' }
  | { kind: 'number_invalid' }
  /** The organization does not have this number. */
  | { kind: 'number_missing' }
  /** No number is named, and the organization has none that may call now. */
  | { kind: 'number_none_ready' }
  /** The call goes over a trunk and the number belongs to the carrier, or the reverse. */
  | { kind: 'number_of_other_line' }
  /** Either one number or a list of them is wanted. */
  | { kind: 'destination_ambiguous' }
  | { kind: 'identity_not_of_caller' }
  | { kind: 'identity_not_of_recipient' }
  | { kind: 'options_missing' }
  | { kind: 'options_not_taken' }
  | { kind: 'descriptions_too_long'; charactersMax: number }
  | { kind: 'schema_not_of_object' }
  | { kind: 'json_too_large'; bytesMax: number }
  | { kind: 'json_too_deep'; depthMax: number }
  | { kind: 'schema_too_deep'; depthMax: number }
  | { kind: 'schema_refers_outside' }
  | { kind: 'schema_malformed' }
  | { kind: 'setting_not_taken' }
  | { kind: 'setting_missing' }
  | { kind: 'tools_too_many'; toolsMax: number }
  | { kind: 'url_malformed' }
  | { kind: 'url_not_https' }
  | { kind: 'url_with_user' }
  | { kind: 'url_not_public' }
  | { kind: 'header_reserved' }
  | { kind: 'secret_missing' }
  | { kind: 'secret_not_taken' }
  | { kind: 'agents_missing' }
  | { kind: 'agents_not_taken' }
  | { kind: 'extraction_not_taken' }
  | { kind: 'secret_of_other_origin' }
  /** Calls to the number would meet neither an agent nor settings that make one. */
  | { kind: 'answer_missing' }
  | { kind: 'number_not_us' }
  /** The business must have one. */
  | { kind: 'tax_number_missing' }
  | { kind: 'tax_number_malformed' }
  /** A SIP connection is for calls in one direction at least. */
  | { kind: 'side_missing' }
  /** Calls come from known addresses, or with a login. */
  | { kind: 'source_missing' }
  | { kind: 'login_incomplete' }
  | { kind: 'login_to_register' }
  /** A password is kept for one host. */
  | { kind: 'password_of_other_host' }
  /** No agent answers on the number that a call goes out from. */
  | { kind: 'agent_missing' }
  /** Numbers of the carrier have no SIP connection. */
  | { kind: 'number_not_imported' }
  | { kind: 'range_malformed' }
  /** Strangers could call from it. */
  | { kind: 'range_too_wide' }
  | { kind: 'host_not_public' }
  | { kind: 'connection_name_taken' }
  | { kind: 'placeholder_unknown' }
  /** The value would be shown by later answers. */
  | { kind: 'secret_shown' }

export type Resource =
  | 'agent'
  | 'tool'
  | 'webhook endpoint'
  | 'SIP connection'
  | 'phone number'
  | 'campaign'
  | 'rich-message subscription'

export type ResourceFaultData =
  | { kind: 'invalid'; issues: readonly Issue[] }
  /** `named` says which id is meant, where a request has several. */
  | { kind: 'not_found'; named?: 'agent' | 'tool' | 'call' | 'transfer' }
  /** This field of the body names a thing that the tenant does not have. */
  | { kind: 'named_not_found'; path: ValuePath }
  /** A template needs these variables, and nobody gave them a value. */
  | { kind: 'variables_missing'; names: readonly string[] }
  | { kind: 'name_taken'; resource: Extract<Resource, 'agent' | 'tool'> }
  | { kind: 'limit_reached'; resource: Resource; limit: number }
  | { kind: 'agent_in_use'; phoneNumberIds: readonly string[]; callbackIds: readonly string[] }
  /** Two endpoints that are asked before a call would both match one. */
  | { kind: 'pre_call_conflict'; endpointId: string }
  /** The endpoint is a field of an agent. */
  | { kind: 'legacy_managed' }
  | { kind: 'callback_not_scheduled'; status: CallbackStatus }
  /** The delivery cannot be sent once more, an attempt is under way, or the organization has as many redeliveries under way as it may. */
  | { kind: 'redelivery_unavailable'; requestedMax?: number }
  /** A call could not be placed: there is no number to call from, or the carrier did not take it. */
  | { kind: 'not_dialed'; why: NotDialed | 'no_number'; sessionId?: string }
  /** The number to call from is for inbound calls, suspended, or not set up. */
  | { kind: 'number_not_ready' }
  /** The organization has it already. */
  | { kind: 'number_exists' }
  /** Numbers use it. */
  | { kind: 'sip_connection_in_use' }
  /** Somebody else has it, or nobody sells it. `isOrdered`: the carrier was asked for it. */
  | { kind: 'number_unavailable'; isOrdered?: true }
  /** It costs this much at once. */
  | { kind: 'number_not_paid'; microUsd: number }
  | { kind: 'order_pending' }
  /** The carrier does not answer, or refuses. `isOrdered`: a number was ordered. */
  | { kind: 'carrier_number_failed'; isOrdered?: true }
  | { kind: 'verification_required'; status: Exclude<VerificationStatus, 'approved'> }
  /** The verification of the business is under review or has ended well. */
  | { kind: 'kyb_conflict'; status: VerificationStatus }
  /** The organization has no access to rich-message numbers. */
  | { kind: 'api_key_required' }
  | { kind: 'rmsg_not_enabled' }
  | { kind: 'endpoint_removed' }
  /** The operator has not enabled rich messages for the organization. */
  | { kind: 'rmsg_off' }
  | { kind: 'rmsg_agent_unknown' }
  /** The agent has them turned off. */
  | { kind: 'rmsg_off_for_agent' }
  /** The agent has no number, or one that is not active. */
  | { kind: 'dedicated_number_required' }
  /** The organization only receives messages, or its provider has no way to send them. */
  | { kind: 'rmsg_backend_unsupported' }
  /** `status` is the provider's, null without an answer. `mayBeSent`: nobody knows whether the provider has taken it. */
  | { kind: 'message_not_sent'; message: RmsgMessage; status: number | null; detail: string | null; mayBeSent: boolean }
  /** It is unknown, not active, or not for this organization. */
  | { kind: 'rmsg_number_not_found' }
  /** No number of the pool is free, or the one that is named is not. */
  | { kind: 'rmsg_number_unavailable' }
  /** The operator has not enabled text messages for the organization. */
  | { kind: 'sms_off' }
  | { kind: 'sms_profile_missing'; of: 'brand' | 'campaign' }
  /** The brand was not submitted. */
  | { kind: 'sms_brand_missing' }
  /** The carrier has not verified the brand. */
  | { kind: 'sms_brand_not_ready' }
  | { kind: 'sms_own_campaign_not_ready' }
  | { kind: 'sms_shared_campaign_unavailable' }
  /** Neither a campaign of the organization nor the shared one is approved. */
  | { kind: 'sms_campaign_missing' }
  | { kind: 'sms_number_unsupported' }
  | { kind: 'sms_number_not_found' }
  | { kind: 'sms_carrier_failed'; of: 'brand' | 'campaign' | 'vetting' | 'number' }
  /** Another step of the registration runs. */
  | { kind: 'sms_under_way' }
  /** The session is over, or was not joined in time. `isEnding`: its last words are said. */
  | { kind: 'call_not_live'; isEnding?: true }
  | { kind: 'call_not_ended' }
  /** Only a call by phone can be transferred. */
  | { kind: 'transfer_unsupported' }
  | { kind: 'transfer_in_progress' }
  | { kind: 'transfer_state_conflict'; status: TransferStatus }
  /** A report is made when the call ends, but not for a session that nobody joined. */
  | { kind: 'report_missing'; because: 'not_ended' | 'analysing' | 'not_joined' }
  /** `status` is that of the recording. */
  | { kind: 'recording_missing'; status: RecordingStatus | null }
  /** The bucket of the recordings does not answer. */
  | { kind: 'recording_unreachable' }
  /** The link to a recording was good once. */
  | { kind: 'link_expired' }
  /** The range begins behind the end of a recording of this size in bytes. */
  | { kind: 'range_unsatisfiable'; bytes: number }

/** An operation on a stored resource cannot be done. Only surfaces that have such operations have words for these. */
export class ResourceFault extends Error {
  readonly data: ResourceFaultData

  constructor(data: ResourceFaultData, options: { cause?: unknown } = {}) {
    super(data.kind, options)
    this.name = 'ResourceFault'
    this.data = data
  }
}

/** Throws ResourceFault unless the list is empty. */
export function refuseIssues(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ResourceFault({ kind: 'invalid', issues })
}

/** For a thing that the tenant may not have. Throws ResourceFault `not_found`. */
export function found<Found>(value: Found | null, named?: 'agent' | 'tool' | 'call' | 'transfer'): Found {
  if (value === null) throw new ResourceFault({ kind: 'not_found', ...(named && { named }) })
  return value
}
