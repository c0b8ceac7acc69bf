import type { Capabilities, Stage } from '../ports/model.ts'
import type { Budget } from './organization.ts'

export type AttemptReport = { provider: string; model: string; outcome: string; milliseconds: number }

/**
 * `pinned` is true if the request names one model. Otherwise all allowed models for the stage (speech to text, LLM or
 * text to speech) were considered. `by` is the first filter from the request's routing or its API key, if such a filter
 * removed models.
 */
type Left = { stage: Stage; pinned: boolean; by?: NarrowingFilter }

/** Filters from the request's routing and API key. A pin does not count as a filter. */
export type NarrowingFilter = 'not_allowed' | 'denied' | 'test_key' | 'key_policy'

/**
 * Every failure shown to clients, with the data for its message. Each API (router, platform and so on) has a separate
 * error code and separate words for each kind.
 */
export type FaultData = InRequest | InRouting | InLimits | InIdempotency | AtProviders | Ours

/** The request is wrong: it refers to something missing or impossible. */
type InRequest =
  | { kind: 'bad_language_tag' }
  | { kind: 'blank_text' }
  | { kind: 'too_much_text' }
  | { kind: 'audio_too_fast' }
  /** A frame in an Opus stream does not contain exactly one packet. */
  | { kind: 'bad_packet' }
  /**
   * `otherStage` is another stage (`stt`, `llm` or `tts`) with a model of this name, or null. `near` lists similar
   * names.
   */
  | { kind: 'unknown_model'; stage: Stage; otherStage: Stage | null; near: readonly string[] }
  | { kind: 'no_such_model'; near: readonly string[] }
  /** `names` lists the first few matching models. */
  | { kind: 'ambiguous_model'; names: readonly string[] }
  | { kind: 'model_not_allowed'; stage: Stage }
  /** `command` adds the model to the server, if there is such a command. */
  | { kind: 'unknown_pin'; stage: Stage; otherStage: Stage | null; near: readonly string[]; command?: string }
  | { kind: 'unknown_option'; provider: string; option: string }
  /** No tried adapter can express this request field. */
  | { kind: 'field_unsupported'; field: string }

/** The filters left no candidate. The kind names the filter that removed the last candidates. */
type InRouting =
  | { kind: 'no_provider'; stage: Stage }
  | { kind: 'no_streaming_provider'; stage: Stage }
  | { kind: 'none_allowed'; stage: Stage }
  | { kind: 'all_denied'; stage: Stage }
  | { kind: 'test_key_reaches_none'; stage: Stage }
  | { kind: 'key_policy_leaves_none'; stage: Stage }
  /** `knowsWhen` is true if the state of a circuit or credential gives the time when a model can be called again. */
  | ({ kind: 'none_callable'; knowsWhen: boolean } & Left)
  /**
   * No model can be called because credentials are missing, so a retry does not help. `model` is the pinned model or
   * null. `variables` are the environment variables for the credentials. `served` lists models callable now.
   */
  | {
      kind: 'credential_missing'
      stage: Stage
      model: string | null
      variables: readonly string[]
      served: readonly string[]
    }
  | ({ kind: 'capability_missing'; capability: keyof Capabilities } & Left)
  /** `command` adds a model with the language to the server, if there is such a command. */
  | ({ kind: 'language_unsupported'; tag: string; command?: string } & Left)
  /** `voices` lists ids to choose instead, and `more` counts the ids left out. */
  | ({ kind: 'voice_unknown'; voices: readonly string[]; more: number } & Left)
  | ({ kind: 'encoding_unsupported'; audio: AudioShape | null } & Left)

type AudioShape = { encoding: string; sampleRateHz: number; channels: number }

type InLimits =
  | { kind: 'too_many_at_once'; limit: 'organization' | 'key' | 'session' }
  /** The credit does not cover the request's maximum cost. */
  | ({ kind: 'credit_too_low' } & OfCredit)
  | ({ kind: 'no_credit_to_stream' } & OfCredit)
  /** The credit ran out while the request was being answered. */
  | ({ kind: 'credit_exhausted' } & OfCredit)

/** Present if the key's budget does not cover the cost. Absent if the organization's credit does not cover it. */
type OfCredit = { budget?: Budget }

type InIdempotency =
  | { kind: 'key_in_progress' }
  | { kind: 'key_already_started'; originalRequestId: string }
  | { kind: 'key_conflict'; originalRequestId: string }

type AtProviders =
  | { kind: 'cancelled' }
  /** The input contains nothing that the adapter could send. */
  | { kind: 'nothing_to_send' }
  /**
   * `sealedFor` names a provider if the cause is the organization's key for this provider: this server cannot decrypt
   * the key.
   */
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
  /** True if the idempotency key is used up. A repetition then needs a new key. */
  isKeySpent?: boolean
  /** For the log only. */
  cause?: unknown
}

/** A failure shown to clients. Any other thrown error is a defect in this server. */
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

/**
 * Waits for work after a request was sent to a carrier, a provider or another process. If the work fails with a fault,
 * the idempotency key is spent, and the client does not repeat its request: a repetition could act a second time.
 */
export async function afterSending<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Fault ? new Fault(error.data, { ...error.detail, isKeySpent: true }) : error
  }
}
