/**
 * The code, message and hint for each fault, in the router contract's terms. The OpenAI-compatible API uses the same
 * table.
 */
import { opusPacketBytesMax } from '../../audio/opus.ts'
import type { FaultData, FaultKind, FaultOf } from '../../domain/records/fault.ts'
import type { Budget } from '../../domain/records/organization.ts'
import type { Row, Saying } from './row.ts'
import { unsupported, voiceList } from './unsupported-words.ts'

export function rowOf(data: FaultData): Row<FaultData> {
  return rows[data.kind] as Row<FaultData>
}

/** Returns the code for a ledger outcome. Rows from earlier versions contain the code itself. */
export function codeOfOutcome(outcome: string): string {
  return outcome in rows ? rows[outcome as FaultKind].code : outcome
}

/** Returns a fault's message. It names no field and no header. */
export function messageOf(data: FaultData): string | undefined {
  const { message } = rowOf(data)
  return typeof message === 'function' ? message(data) : message
}

export function hintOf(data: FaultData, saying: Saying): string | undefined {
  const { hint } = rowOf(data)
  return typeof hint === 'function' ? hint(data, saying) : hint
}

const spellings =
  'Send "auto", "<provider>:<model>", or the id of a model that one provider alone serves; GET /v1/models lists them.'
const listsProviders = 'GET /v1/models lists the providers that can be named.'
const configure =
  'Give a provider its credential, or add one to the configuration; GET /v1/models lists what can be routed.'
const reseal =
  'Store the key again, or tell the operator: the server has another master key than the one with which it was sealed.'
const widen = 'Retry after the delay, or widen the routing.'
const widenAfter = (_data: unknown, { retryAfterS }: Saying) => `Retry after ${retryAfterS} s, or widen the routing.`

const periods = { day: ' a UTC day', month: ' a UTC month', total: ' in total' }
const budgetWords = ({ microUsd, period }: Budget) => `${microUsd / 1e6} US dollars${periods[period]}`
const moreBudget = ({ period }: Budget) =>
  `${period === 'total' ? '' : `wait for the next UTC ${period} or `}have the budget of the key raised`

const ambiguous = ({ names }: FaultOf<'ambiguous_model'>) => `Name the provider too: ${names.join(', ')}.`

// Messages about model names include the hint, because OpenAI's clients show only the message.
function unknownModel({ stage, otherStage, near }: FaultOf<'unknown_model'>): string {
  return otherStage
    ? `This model is of kind ${otherStage}, not ${stage}. ${spellings}`
    : `No ${stage} provider here serves a model of this name. ${didYouMean(near)}${spellings}`
}

function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `
}

const adding = (command: string) => `Its operator adds it with \`${command}\`.`

function credentialMissing({ stage, model, variables, served }: FaultOf<'credential_missing'>): string {
  const what = model === null ? `No ${stage} model that the routing leaves` : `The ${stage} model ${model}`
  const lacks = model === null ? 'has a credential here' : 'needs a credential that this server does not have'
  const set = variables.length === 0 ? '' : `: set ${variables.join(' or ')}`
  return `${what} ${lacks}${set}. ${servedNow(stage, served)}`
}

function servedNow(stage: string, served: readonly string[]): string {
  return served.length === 0 ? `No ${stage} model is served now.` : `Served now: auto, ${served.join(', ')}.`
}

const rows = {
  bad_language_tag: {
    code: 'invalid_parameter',
    message: 'The language is not a BCP 47 tag.',
    hint: 'Send a BCP 47 tag, for example en, es-MX or zh-Hant.',
    param: ({ language }) => language,
  },
  blank_text: {
    code: 'invalid_parameter',
    message: 'There is nothing to say: the text is blank.',
    param: ({ text }) => text,
  },
  too_much_text: {
    code: 'invalid_parameter',
    message: 'More text is waiting to be spoken than a session holds.',
    hint: 'Send text as it is needed, and no more than 20,000 characters ahead.',
  },
  audio_too_fast: {
    code: 'rate_limited',
    message: 'Audio came faster than it can be transcribed.',
    hint: 'Send audio no faster than it is spoken.',
  },
  bad_packet: {
    code: 'invalid_parameter',
    message: `A frame is not one Opus packet of at most ${opusPacketBytesMax} bytes. Send one packet a frame, without Ogg or WebM around it.`,
    hint: 'Send one Opus packet a frame, without Ogg or WebM around it.',
  },
  unknown_model: {
    code: 'invalid_parameter',
    message: unknownModel,
    hint: spellings,
    param: ({ model }) => model,
  },
  no_such_model: {
    code: 'capability_unsupported',
    codeByName: 'not_found',
    message: ({ near }) => `No provider here serves a model of this name. ${didYouMean(near)}${spellings}`,
    hint: spellings,
    param: ({ pinnedModel }) => pinnedModel,
  },
  ambiguous_model: {
    code: 'invalid_parameter',
    message: (data) => `Several providers serve a model of this id. ${ambiguous(data)}`,
    hint: ambiguous,
    param: ({ model }) => model,
  },
  model_not_allowed: {
    code: 'invalid_parameter',
    message: ({ stage }) => `The model belongs to a provider that the constraints do not allow for ${stage}.`,
    hint: 'Allow its provider, or send "auto".',
    param: ({ model }) => model,
  },
  unknown_pin: {
    code: 'invalid_parameter',
    message: ({ stage, otherStage, command }) =>
      otherStage
        ? `The pinned model is of kind ${otherStage}, not ${stage}.`
        : command
          ? `The model is not installed on this server. ${adding(command)}`
          : `The catalog has no such ${stage} model.`,
    hint: ({ near }) => `${didYouMean(near)}GET /v1/models lists every model with its pin.`,
    param: ({ pinnedModel }) => pinnedModel,
  },
  unknown_option: {
    code: 'invalid_parameter',
    message: 'provider_options holds a setting that the model chosen does not take.',
    hint: 'Leave it out, or route to a model that takes it; GET /v1/models shows what can be routed.',
    param: ({ options }, { provider, option }) => pointerTo(options, provider, option),
  },
  field_unsupported: {
    code: 'capability_unsupported',
    message: ({ field }) => `No model that the routing leaves can take ${field}.`,
    hint: 'Leave it out, or route to a provider that speaks chat completions itself.',
    param: (_places, { field }) => field,
  },

  no_provider: {
    code: 'provider_unavailable',
    message: ({ stage }) => `No ${stage} provider is configured.`,
    hint: configure,
  },
  no_streaming_provider: {
    code: 'provider_unavailable',
    message: ({ stage }) => `No ${stage} provider that streams is configured.`,
    hint: configure,
  },
  none_allowed: {
    code: 'capability_unsupported',
    message: ({ stage }) => `The allowed providers leave no ${stage} model.`,
    hint: listsProviders,
    param: ({ allowedProviders }) => allowedProviders,
  },
  all_denied: {
    code: 'capability_unsupported',
    message: ({ stage }) => `The denied providers leave no ${stage} model.`,
    hint: listsProviders,
    param: ({ deniedProviders }) => deniedProviders,
  },
  test_key_reaches_none: {
    code: 'access_denied',
    message: ({ stage }) =>
      `This is a test key: it reaches only simulators, loopback and embedded engines, and none of them is left for ${stage}.`,
    hint: 'Use a live key, or route to a provider that test keys reach.',
  },
  key_policy_leaves_none: {
    code: 'access_denied',
    message: ({ stage }) => `The allowed providers or the chain of this key leave no ${stage} model.`,
    hint: 'Change the route, or the configuration of the key.',
  },
  none_callable: {
    code: 'provider_unavailable',
    message: ({ pinned, stage }) =>
      pinned ? 'The pinned model cannot be called now.' : `No ${stage} model can be called now.`,
    hint: (data, saying) =>
      data.knowsWhen
        ? widenAfter(data, saying)
        : 'The provider has no credential or is not running: configure it, or widen the routing.',
  },
  credential_missing: {
    code: 'capability_unsupported',
    codeByName: 'not_found',
    isFinal: true,
    message: credentialMissing,
    hint: ({ variables }) =>
      `${variables.length === 0 ? 'Give the provider its credential' : `Set ${variables.join(' or ')}`}, bring a key of your own for the provider, send "auto", or map the name to another with the setting aliases.`,
    param: ({ pinnedModel }, { model }) => (model === null ? null : pinnedModel),
  },
  capability_missing: unsupported<FaultOf<'capability_missing'>>(
    ({ capability }) => capability,
    ({ asks }, { capability }) => asks[capability] ?? null,
  ),
  language_unsupported: unsupported<FaultOf<'language_unsupported'>>(
    ({ tag }) => (tag === 'auto' ? 'Detection of the language' : `The language ${tag}`),
    ({ asks }) => asks.language ?? null,
    ({ command }) => (command ? ` A model for it is not installed on this server. ${adding(command)}` : ''),
  ),
  voice_unknown: unsupported<FaultOf<'voice_unknown'>>(
    () => 'The voice asked for, or set on the key,',
    ({ asks }) => asks.voice ?? null,
    voiceList,
  ),
  encoding_unsupported: unsupported<FaultOf<'encoding_unsupported'>>(
    ({ audio }) =>
      audio ? `Audio as ${audio.encoding} at ${audio.sampleRateHz} Hz with ${audio.channels} channel(s)` : 'encoding',
    ({ asks }, { stage }) => asks[stage === 'stt' ? 'recording' : 'speech'] ?? null,
  ),

  too_many_at_once: {
    code: 'concurrency_exhausted',
    message: ({ limit }) => `The concurrency limit of this ${limit} is reached.`,
    hint: 'Wait for requests under way to end, or have the limit raised.',
  },
  credit_too_low: {
    code: 'insufficient_credit',
    message: ({ budget }) =>
      budget
        ? `The budget of this key, ${budgetWords(budget)}, does not cover the most that this request can cost.`
        : 'The credit of this organization does not cover the most that this request can cost.',
    hint: ({ budget }) => (budget ? `Ask for less, or ${moreBudget(budget)}.` : 'Add credit, or ask for less.'),
  },
  no_credit_to_stream: {
    code: 'insufficient_credit',
    message: ({ budget }) =>
      budget
        ? `Nothing is left of the budget of this key, ${budgetWords(budget)}, and every model that streams needs some.`
        : 'This organization has no credit left, and every model that streams needs some.',
    hint: ({ budget }) =>
      budget ? `To go on, ${moreBudget(budget)}.` : 'Add credit, or bring a key of your own for a provider.',
  },
  credit_exhausted: {
    code: 'budget_exhausted',
    hint: ({ budget }) =>
      budget ? `Open a new session after this: ${moreBudget(budget)}.` : 'Add credit, then open a new session.',
  },

  key_in_progress: {
    code: 'request_in_progress',
    message: 'A request with this Idempotency-Key is still being prepared.',
    hint: 'Retry with the same key after the delay.',
    param: ({ idempotencyKey }) => idempotencyKey,
  },
  key_already_started: {
    code: 'request_already_started',
    message: 'A request with this Idempotency-Key has already been sent to a provider; its answer is not kept.',
    hint: (_data, { withNewKey }) => `To run it again, send it${withNewKey}.`,
    param: ({ idempotencyKey }) => idempotencyKey,
  },
  key_conflict: {
    code: 'idempotency_conflict',
    message: 'This Idempotency-Key was used for other content.',
    hint: 'Use a new Idempotency-Key for each new request.',
    param: ({ idempotencyKey }) => idempotencyKey,
  },

  cancelled: {
    code: 'service_unavailable',
    message: 'The request was cancelled before it was answered.',
    hint: 'Send the request again.',
  },
  nothing_to_send: {
    code: 'capability_unsupported',
    message: 'The chosen model can make nothing of this input.',
    hint: 'Change the input, or route it to another model.',
  },
  providers_unreachable: {
    code: 'provider_unavailable',
    message: ({ sealedFor }) =>
      sealedFor === undefined
        ? 'No provider could be reached; nothing was sent to any.'
        : `The key that this organization has stored for ${sealedFor} cannot be opened by this server; nothing was sent.`,
    hint: ({ sealedFor }) => (sealedFor === undefined ? widen : reseal),
  },
  providers_busy: {
    code: 'provider_unavailable',
    message: 'Everything that could serve this is busy.',
    hint: widen,
  },
  all_rate_limited: {
    code: 'provider_rate_limited',
    message: 'Every provider that could answer is limiting its rate.',
    hint: widenAfter,
  },
  stream_rate_limited: {
    code: 'provider_rate_limited',
    message: 'The provider went no further, because it is limiting its rate.',
    hint: widenAfter,
  },
  timed_out: {
    code: 'request_timeout',
    message: 'No provider answered in time.',
  },
  all_unsupported: {
    code: 'capability_unsupported',
    message: 'The providers that were tried cannot do what was asked.',
    hint: 'Change the language, the voice or the format, or widen the routing.',
  },
  all_failed: {
    code: 'provider_error',
    message: 'Every provider that was tried failed.',
  },
  provider_refused: {
    code: 'provider_error',
    message: 'The provider refused the request.',
    hint: 'A limit of this model may be exceeded, for example its context length: shorten the request or choose another model.',
  },
  stream_broken: {
    code: 'provider_error',
    message: 'The provider broke off in the middle of its answer.',
    hint: (_data, { withNewKey }) => `Send the request again${withNewKey}; what arrived so far is incomplete.`,
  },
  json_truncated: {
    code: 'provider_error',
    message: 'The answer reached max_output_tokens before its JSON was complete.',
    hint: (_data, { withNewKey }) => `Raise max_output_tokens and send the request${withNewKey}.`,
  },

  overloaded: { code: 'service_unavailable', message: 'The service is overloaded.' },
  store_unreachable: {
    code: 'service_unavailable',
    message: 'The service cannot reach its database.',
    hint: 'Repeat the request with the same Idempotency-Key.',
  },
  internal: { code: 'relay_error' },
} satisfies { [Kind in FaultKind]: Row<FaultOf<Kind>> }

/** Returns a pointer to a nested member. `~` and `/` are escaped (RFC 6901). */
function pointerTo(place: string | null, ...names: string[]): string | null {
  return place && [place, ...names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}
