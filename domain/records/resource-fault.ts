import type { RecordingStatus } from './call.ts'
import type { FaultData } from './fault.ts'
import type { NotDialed } from './not-dialed.ts'
import type { RmsgMessage } from './rmsg-message.ts'
import type { CallbackStatus } from './states/callback.ts'
import type { TransferStatus } from './states/transfer.ts'
import type { VerificationStatus } from './verification.ts'

/** The path to a value in a client's body: field names and list indexes. */
export type ValuePath = readonly (string | number)[]

/** A well-formed value that breaks a rule. */
export type Issue = { path: ValuePath; problem: Problem }

export type Problem =
  | { kind: 'language_unknown' }
  | { kind: 'timezone_unknown' }
  /** `line` and `column` count from 1. */
  | { kind: 'template_malformed'; line: number; column: number }
  | { kind: 'template_too_large'; tagsMax: number }
  /** One tag or output is too long, and begins at this line and column. */
  | {
      kind: 'template_expression_too_long'
      line: number
      column: number
      counted: 'characters' | 'names' | 'filters'
      most: number
    }
  /** Rendering takes too long or produces too much text. */
  | { kind: 'template_too_costly' }
  | { kind: 'first_message_missing' }
  | { kind: 'intent_missing' }
  | { kind: 'transport_missing' }
  /** `fault` explains the problem with the model's name. */
  | { kind: 'model_unknown'; fault: FaultData }
  | { kind: 'provider_unknown' }
  /** `fault` lists the known voices. */
  | { kind: 'voice_unknown'; fault: FaultData }
  | { kind: 'max_delay_too_short' }
  | { kind: 'repeated' }
  | { kind: 'number_invalid' }
  /** The organization does not have this number. */
  | { kind: 'number_missing' }
  /** The request names no number, and no number of the organization may call now. */
  | { kind: 'number_none_ready' }
  /**
   * The call uses a SIP trunk but the number belongs to the carrier, or the call uses the carrier but the number
   * belongs to a trunk.
   */
  | { kind: 'number_of_other_line' }
  /** The request must have either one number or a list, not both. */
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
  /** Only webhook tools can be tried. */
  | { kind: 'tool_not_webhook' }
  | { kind: 'setting_missing' }
  | { kind: 'tools_too_many'; toolsMax: number }
  | { kind: 'url_malformed' }
  | { kind: 'url_not_https' }
  | { kind: 'url_with_user' }
  | { kind: 'url_not_public' }
  | { kind: 'url_bad_port' }
  | { kind: 'header_reserved' }
  | { kind: 'secret_missing' }
  | { kind: 'secret_not_taken' }
  | { kind: 'agents_missing' }
  | { kind: 'agents_not_taken' }
  | { kind: 'extraction_not_taken' }
  | { kind: 'secret_of_other_origin' }
  /** Failed deliveries are sent again only if they are not older. */
  | { kind: 'recovery_too_old' }
  /** The range of deliveries ends before it begins. */
  | { kind: 'recovery_empty' }
  /** The number has neither an agent nor settings for a session, so its calls could not be answered. */
  | { kind: 'answer_missing' }
  | { kind: 'number_not_us' }
  /** A business of this kind must have a tax number. */
  | { kind: 'tax_number_missing' }
  | { kind: 'tax_number_malformed' }
  /** A SIP connection must have settings for outbound or inbound calls, or for both. */
  | { kind: 'side_missing' }
  /** A SIP connection for inbound calls needs allowed addresses or a login. */
  | { kind: 'source_missing' }
  | { kind: 'login_incomplete' }
  | { kind: 'login_to_register' }
  /** No calls go out over the SIP connection, so there is no address to check. */
  | { kind: 'outbound_missing' }
  /** This process sends no SIP. */
  | { kind: 'sip_port_missing' }
  /** The provider has no free request that proves a key. */
  | { kind: 'key_check_missing' }
  /** The host has changed, but the stored password belongs to the old host. */
  | { kind: 'password_of_other_host' }
  /** The outgoing number has no agent. */
  | { kind: 'agent_missing' }
  /** Numbers of the carrier have no SIP connection. */
  | { kind: 'number_not_imported' }
  | { kind: 'range_malformed' }
  /** The IP address range is too wide: calls from unknown senders would be accepted. */
  | { kind: 'range_too_wide' }
  /** All connections of the organization together would list too many IP addresses. */
  | { kind: 'addresses_too_many' }
  | { kind: 'host_not_public' }
  | { kind: 'connection_name_taken' }
  | { kind: 'placeholder_unknown' }
  /** The refused value is a secret, but later API responses would show the value. */
  | { kind: 'secret_shown' }
  /** The password is common, only repeats a few characters, or contains the e-mail address. */
  | { kind: 'password_common' }
  | { kind: 'password_length' }

export type Resource =
  | 'agent'
  | 'tool'
  | 'webhook endpoint'
  | 'SIP connection'
  | 'phone number'
  | 'campaign'
  | 'API key'
  | 'rich-message subscription'
  | 'invitation'

/** Trials of tools, checks of SIP connections and checks of providers have separate limits. */
export type TrialSubject = 'tool' | 'sip_connection' | 'provider'

/** Why a connected call takes no further person: the agent says its last words, or the call is or was transferred. */
export type NotLiveReason = 'ending' | 'transferring' | 'with_recipient'

export type ResourceFaultData =
  | { kind: 'invalid'; issues: readonly Issue[] }
  /** If a request contains several ids, `named` is the kind of the unknown id. */
  | { kind: 'not_found'; named?: 'agent' | 'tool' | 'call' | 'transfer' }
  /** A field of the body refers to a resource missing from the tenant. */
  | { kind: 'named_not_found'; path: ValuePath }
  /** A template uses these variables, but they have no value. */
  | { kind: 'variables_missing'; names: readonly string[] }
  | { kind: 'name_taken'; resource: Extract<Resource, 'agent' | 'tool'> }
  | { kind: 'limit_reached'; resource: Resource; limit: number }
  /** The organization would lose its only owner. */
  | { kind: 'last_owner' }
  /** The API key is revoked, so it cannot be changed. */
  | { kind: 'key_revoked' }
  | { kind: 'agent_in_use'; phoneNumberIds: readonly string[]; callbackIds: readonly string[] }
  /** Two pre-call endpoints would both match one call. */
  | { kind: 'pre_call_conflict'; endpointId: string }
  /** The endpoint was made from an agent's deprecated webhook field and can be changed only through the agent. */
  | { kind: 'legacy_managed' }
  | { kind: 'callback_not_scheduled'; status: CallbackStatus }
  /**
   * The delivery cannot be repeated, its endpoint is disabled, an attempt is running, or the organization has reached
   * its limit for concurrent redeliveries.
   */
  | { kind: 'redelivery_unavailable'; requestedMax?: number; isEndpointDisabled?: true }
  /** A call could not be placed: no number may place calls, or the carrier did not accept the call. */
  | { kind: 'not_dialed'; why: NotDialed | 'no_number'; sessionId?: string }
  /** The number cannot place calls: it is for inbound calls only, suspended, or not set up. */
  | { kind: 'number_not_ready' }
  /** The organization has this number already. */
  | { kind: 'number_exists' }
  /** The connection cannot be removed while numbers use it. */
  | { kind: 'sip_connection_in_use' }
  /**
   * The number belongs to another customer of the carrier, or it is not for sale. `isOrdered`: the order was already
   * sent to the carrier.
   */
  | { kind: 'number_unavailable'; isOrdered?: true }
  /** The credit does not cover the first payment, `microUsd`. */
  | { kind: 'number_not_paid'; microUsd: number }
  | { kind: 'order_pending' }
  /** The carrier does not answer, or refuses the request. `isOrdered`: the failed request was an order. */
  | { kind: 'carrier_number_failed'; isOrdered?: true }
  | { kind: 'verification_required'; status: Exclude<VerificationStatus, 'approved'> }
  /** The business verification is under review or has succeeded. */
  | { kind: 'kyb_conflict'; status: VerificationStatus }
  /** Rich-message numbers need an API key, and the request has a user's token or session. */
  | { kind: 'api_key_required' }
  | { kind: 'rmsg_not_enabled' }
  | { kind: 'endpoint_removed' }
  /** The operator has not enabled rich messages for the organization. */
  | { kind: 'rmsg_off' }
  | { kind: 'rmsg_agent_unknown' }
  /** The agent has rich messages turned off. */
  | { kind: 'rmsg_off_for_agent' }
  /** The agent has no active number. */
  | { kind: 'dedicated_number_required' }
  /** The organization may only receive messages, or no provider can send them. */
  | { kind: 'rmsg_backend_unsupported' }
  /**
   * `status` is the provider's HTTP status, or null if it did not answer. If `mayBeSent`, the provider may have
   * accepted the message.
   */
  | { kind: 'message_not_sent'; message: RmsgMessage; status: number | null; detail: string | null; mayBeSent: boolean }
  /** The number is unknown, not active, or not for this organization. */
  | { kind: 'rmsg_number_not_found' }
  /** No number in the pool is free, or the requested number is not free. */
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
  /** Neither the organization's campaign nor the shared campaign is approved. */
  | { kind: 'sms_campaign_missing' }
  | { kind: 'sms_number_unsupported' }
  | { kind: 'sms_number_not_found' }
  | { kind: 'sms_carrier_failed'; of: 'brand' | 'campaign' | 'vetting' | 'number' }
  /** Another registration step is running. */
  | { kind: 'sms_under_way' }
  /** Without `because` the session is over, has not begun, or was not joined in time. */
  | { kind: 'call_not_live'; because?: NotLiveReason }
  | { kind: 'call_not_ended' }
  /** The organization has tried tools, or checked SIP connections or providers, too often in the last minute. */
  | { kind: 'too_many_trials'; subject: TrialSubject; retryAfterS: number }
  /** The organization has this many checks of providers under way. */
  | { kind: 'checks_under_way'; checksMax: number }
  /**
   * `no_key`: there is no such provider, or neither the organization nor this server has a key for it. `no_models`: it
   * offers no models now. `test_key`: requests with test keys reach no provider.
   */
  | { kind: 'provider_check_impossible'; because: 'no_key' | 'no_models' | 'test_key' }
  /** The agent has another version than the client expects. `version` is its present version. */
  | { kind: 'version_changed'; version: number }
  /** Only a phone call can be transferred. */
  | { kind: 'transfer_unsupported' }
  /** `isConnected`: the caller talks to the recipient already. */
  | { kind: 'transfer_in_progress'; isConnected?: true }
  | { kind: 'transfer_state_conflict'; status: TransferStatus }
  /** The report does not exist yet, or the session gets no report because no client joined it. */
  | { kind: 'report_missing'; because: 'not_ended' | 'analysing' | 'not_joined' }
  /** `status` is the recording's status. */
  | { kind: 'recording_missing'; status: RecordingStatus | null }
  /** The recordings' bucket does not answer. */
  | { kind: 'recording_unreachable' }
  /** The link was valid once, but has expired. */
  | { kind: 'link_expired' }
  /** The person is unknown, the password is wrong, or the person has no role. The client cannot distinguish these. */
  | { kind: 'sign_in_failed' }
  /** Too many attempts with a wrong password came before. */
  | { kind: 'attempts_blocked'; waitS: number }
  /** The server's first person exists already, so the setup is over. */
  | { kind: 'setup_done' }
  /** The person has a role in the organization already. */
  | { kind: 'member_exists' }
  /** The link in a mail is unknown, was used or replaced, or has expired. */
  | { kind: 'link_dead' }
  /** The range begins beyond the recording's end. `bytes` is the recording's size. */
  | { kind: 'range_unsatisfiable'; bytes: number }

/** An operation on a stored resource failed. Only APIs with such operations have messages for these kinds. */
export class ResourceFault extends Error {
  readonly data: ResourceFaultData

  constructor(data: ResourceFaultData, options: { cause?: unknown } = {}) {
    super(data.kind, options)
    this.name = 'ResourceFault'
    this.data = data
  }
}

/** Throws ResourceFault `invalid` unless the list is empty. */
export function refuseIssues(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ResourceFault({ kind: 'invalid', issues })
}

/** Returns the value. If it is null, the tenant does not have the resource, and ResourceFault `not_found` is thrown. */
export function requireResource<Value>(value: Value | null, named?: 'agent' | 'tool' | 'call' | 'transfer'): Value {
  if (value === null) throw new ResourceFault({ kind: 'not_found', ...(named && { named }) })
  return value
}
