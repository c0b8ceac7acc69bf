import type { Capabilities, Stage } from '../ports/model.ts'
import type { Budget } from './organization.ts'

export type AttemptReport = { provider: string; model: string; outcome: string; milliseconds: number }

/** The models that the routing left: the pinned one, or all of the stage that it allows. `by` is the first filter of the routing or the key that left some out. */
type Left = { stage: Stage; pinned: boolean; by?: NarrowingFilter }

/** The filters of the caller's routing and key, beside a pin. */
export type NarrowingFilter = 'not_allowed' | 'denied' | 'test_key' | 'key_policy'

/** Every failure that a client is shown, with the data that its message needs. A surface has its own code and words for each kind. */
export type FaultData = InRequest | InRouting | InLimits | InIdempotency | AtProviders | Ours

/** The request asks for something that does not exist or cannot be done. */
type InRequest =
  | { kind: 'bad_language_tag' }
  | { kind: 'blank_text' }
  | { kind: 'too_much_text' }
  | { kind: 'audio_too_fast' }
  /** A frame of a stream of Opus is not one packet. */
  | { kind: 'bad_packet' }
  /** `otherStage` has a model of this name; `near` are names of models that are spelled much like it. */
  | { kind: 'unknown_model'; stage: Stage; otherStage: Stage | null; near: readonly string[] }
  | { kind: 'no_such_model'; near: readonly string[] }
  /** `names` are those of the first few models that the name fits. */
  | { kind: 'ambiguous_model'; names: readonly string[] }
  | { kind: 'model_not_allowed'; stage: Stage }
  | { kind: 'unknown_pin'; stage: Stage; otherStage: Stage | null; near: readonly string[] }
  | { kind: 'unknown_option'; provider: string; option: string }
  /** No adapter that was tried can express this field of the request. */
  | { kind: 'field_unsupported'; field: string }

/** The filters left no candidate; the kind names the filter that removed the last one. */
type InRouting =
  | { kind: 'no_provider'; stage: Stage }
  | { kind: 'no_streaming_provider'; stage: Stage }
  | { kind: 'none_allowed'; stage: Stage }
  | { kind: 'all_denied'; stage: Stage }
  | { kind: 'test_key_reaches_none'; stage: Stage }
  | { kind: 'key_policy_leaves_none'; stage: Stage }
  /** `knowsWhen`: a circuit or a credential says when a model can be called again. */
  | ({ kind: 'none_callable'; knowsWhen: boolean } & Left)
  /**
   * Only credentials are missing, which no waiting brings. `model` is the pinned one, or null; `variables` would hold the credentials;
   * `served` are the names of models that can be called now.
   */
  | {
      kind: 'credential_missing'
      stage: Stage
      model: string | null
      variables: readonly string[]
      served: readonly string[]
    }
  | ({ kind: 'capability_missing'; capability: keyof Capabilities } & Left)
  | ({ kind: 'language_unsupported'; tag: string } & Left)
  /** `voices` are ids of voices that can be named instead, and `more` counts those that are not in the list. */
  | ({ kind: 'voice_unknown'; voices: readonly string[]; more: number } & Left)
  | ({ kind: 'encoding_unsupported'; audio: AudioShape | null } & Left)

type AudioShape = { encoding: string; sampleRateHz: number; channels: number }

type InLimits =
  | { kind: 'too_many_at_once'; limit: 'organization' | 'key' | 'session' }
  /** The credit does not cover the most that the request can cost. */
  | ({ kind: 'credit_too_low' } & OfCredit)
  | ({ kind: 'no_credit_to_stream' } & OfCredit)
  /** The credit ran out while the request was being answered. */
  | ({ kind: 'credit_exhausted' } & OfCredit)

/** Present where the budget of the key is what does not cover it, and not the credit of the organization. */
type OfCredit = { budget?: Budget }

type InIdempotency =
  | { kind: 'key_in_progress' }
  | { kind: 'key_already_started'; originalRequestId: string }
  | { kind: 'key_conflict'; originalRequestId: string }

type AtProviders =
  | { kind: 'cancelled' }
  /** The adapter found nothing in the input that it could send. */
  | { kind: 'nothing_to_send' }
  /** `sealedFor` is a provider whose key of the organization this server cannot open, where that is why. */
  | { kind: 'providers_unreachable'; sealedFor?: string }
  | { kind: 'providers_busy' }
  | { kind: 'all_rate_limited' }
  | { kind: 'stream_rate_limited' }
  | { kind: 'timed_out' }
  | { kind: 'all_unsupported' }
  | { kind: 'all_failed' }
  | { kind: 'provider_refused' }
  | { kind: 'stream_broken' }
  | { kind: 'json_truncated' }

type Ours = { kind: 'overloaded' } | { kind: 'store_unreachable' } | { kind: 'internal' }

export type FaultKind = FaultData['kind']
export type FaultOf<Kind extends FaultKind> = Extract<FaultData, { kind: Kind }>

export type FaultDetail = {
  retryAfterS?: number
  attempts?: readonly AttemptReport[]
  /** The idempotency key is spent: only a request with another key can run again. */
  isKeySpent?: boolean
  /** For the log only. */
  cause?: unknown
}

/** A failure that a client is shown. Everything else that is thrown is a defect of ours. */
export class Fault extends Error {
  readonly data: FaultData
  readonly detail: FaultDetail

  constructor(data: FaultData, detail: FaultDetail = {}) {
    super(data.kind, { cause: detail.cause })
    this.name = 'Fault'
    this.data = data
    this.detail = detail
  }

  get kind(): FaultKind {
    return this.data.kind
  }
}
