/**
 * The platform API's messages for problems with a field in a request, each with its JSON Schema keyword. The words for
 * SIP connections and brands are in connection-words.ts and sms-words.ts.
 */
import type { Problem, ValuePath } from '../../domain/records/resource-fault.ts'
import type { ValidationIssue } from '../../generated/platform/types.ts'
import { type ConnectionProblem, connectionComplaints, connectionKeywords, isOfConnection } from './connection-words.ts'
import { type BrandProblem, brandComplaints, isOfBrand } from './sms-words.ts'
import { messageOf } from './table.ts'

/** The contract's limit for `issues`. */
export const issuesMax = 32

/** Returns the issue for one problem with the field at `path`. */
export function issueOf(path: ValuePath, problem: Problem): ValidationIssue {
  const pointer = pointerOf(path)
  return { path: pointer, message: `${pointer} ${wordsOf(problem)}`, keyword: keywordOf(problem) }
}

function wordsOf(problem: Problem): string {
  if (isOfConnection(problem)) return connectionComplaints[problem.kind]
  if (isOfBrand(problem)) return brandComplaints[problem.kind]
  return complaint(problem)
}

/** Returns the field's JSON pointer. */
export function pointerOf(path: ValuePath): string {
  return path.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const expressionLimits = {
  characters: (most: number) => `more than ${most} characters without quoted text`,
  names: (most: number) => `a path with more than ${most} names`,
  filters: (most: number) => `more than ${most} filters`,
}

/**
 * Returns the message for a problem. The message follows the field's path, so that path and message form one sentence.
 * The text never contains request content.
 */
function complaint(problem: Exclude<Problem, ConnectionProblem | BrandProblem>): string {
  if (isOfWebhook(problem)) return webhookComplaints[problem.kind]
  if (isOfPhoneNumber(problem)) return numberComplaints[problem.kind]
  if (isOfPassword(problem)) return passwordComplaints[problem.kind]
  switch (problem.kind) {
    case 'language_unknown':
      return 'is no BCP 47 tag; write it like en, es-MX or zh-Hant'
    case 'timezone_unknown':
      return 'is no name of the IANA time zone database, such as Europe/Berlin'
    case 'template_malformed':
      return `is no valid Liquid template; see line ${problem.line}, column ${problem.column}. Write braces that are text between {% raw %} and {% endraw %}`
    case 'template_too_large':
      return `has more than ${problem.tagsMax} tags and outputs`
    case 'template_expression_too_long':
      return `has ${expressionLimits[problem.counted](problem.most)} in the tag or output at line ${problem.line}, column ${problem.column}`
    case 'template_too_costly':
      return 'takes too long to render, or makes too much text'
    case 'intent_missing':
      return 'is required for a session without an agent'
    case 'transport_missing':
      return 'is livekit, and this server has no LiveKit server'
    case 'voice_unknown':
      return `names no voice that this route has. ${messageOf(problem.fault) ?? ''}`.trim()
    case 'first_message_missing':
      return 'is message, and there is no firstMessage to say'
    case 'model_unknown':
      return `names no model that can be pinned. ${messageOf(problem.fault) ?? ''}`.trim()
    case 'provider_unknown':
      return 'is no <provider> or <provider>:<model> of this server; GET /v1/providers/known lists them'
    case 'max_delay_too_short':
      return 'makes the greatest delay shorter than the least one; the profile sets the one that is left out'
    case 'placeholder_unknown':
      return 'has a placeholder other than {{callerNumber}}, {{dialedNumber}} and {{forwardedFromNumber}}'
    case 'secret_shown':
      return 'cannot be kept secret in a template; give the tool to an agent'
    case 'destination_ambiguous':
      return 'or to must be given, and not both'
    case 'identity_not_of_caller':
    case 'identity_not_of_recipient':
      return 'is not the identity of that person'
    case 'repeated':
      return 'is in the request twice'
    case 'options_missing':
    case 'options_not_taken':
      return problem.kind === 'options_missing' ? 'is required for the type enum' : 'is for the type enum alone'
    case 'descriptions_too_long':
      return `has descriptions of more than ${problem.charactersMax} characters together`
    case 'schema_not_of_object':
      return 'must have type: object at its root'
    case 'json_too_deep':
      return `is more than ${problem.depthMax} levels deep`
    case 'json_too_large':
      return `is larger than ${problem.bytesMax} bytes of JSON`
    case 'schema_too_deep':
      return `is more than ${problem.depthMax} schemas deep`
    case 'schema_refers_outside':
      return 'has a $ref to a schema that is not in it'
    case 'schema_malformed':
      return 'is no JSON Schema of draft 2020-12'
    case 'tool_not_webhook':
      return 'names a tool that is no webhook, and only webhooks can be tried'
    case 'key_check_missing':
      return 'names a provider without a free request that proves a key, so only a request to one of its models shows whether it accepts the key'
    case 'setting_not_taken':
    case 'setting_missing':
      return problem.kind === 'setting_missing' ? 'is required for this function' : 'is no setting of this function'
    case 'tools_too_many':
      return `makes more than ${problem.toolsMax} tools with those that the session has already`
  }
}

const passwordComplaints = {
  password_length: 'must have 15 to 256 characters',
  password_common: 'is too easy to guess: it is a common one, repeats a piece, or has the e-mail address in it',
} as const

function isOfPassword(problem: Problem): problem is Extract<Problem, { kind: keyof typeof passwordComplaints }> {
  return Object.hasOwn(passwordComplaints, problem.kind)
}

/** Error messages about an endpoint's settings and a recovery's times. Each message follows the field's path. */
const webhookComplaints = {
  url_malformed: 'is no URL',
  url_not_https:
    'must be https; http is taken only for addresses that the operator of this server allows (PARLEY_OUTBOUND_ALLOWED_SUBNETS)',
  url_with_user: 'must have neither a user nor a password; send them in authHeaders',
  url_not_public:
    'has an address that is not public; the operator of this server can allow its subnet, for example with PARLEY_OUTBOUND_ALLOWED_SUBNETS=127.0.0.0/8 and a restart',
  url_bad_port: 'has a port where servers of another protocol listen, such as 22 or 25',
  header_reserved: 'is a header that cannot be set here',
  secret_missing: 'is required, because none is stored',
  secret_not_taken: 'must be left out or null where signingSecretSource is workspace',
  agents_missing: 'must name an agent where allAgents is false',
  agents_not_taken: 'must be false or left out where agentIds names agents',
  extraction_not_taken: 'is for endpoints of call.report or call.analysis alone',
  secret_of_other_origin: 'must be sent again, because the origin of the URL has changed',
  recovery_too_old: 'must be at most 30 days ago',
  recovery_empty: 'must be after since',
}

/** The keywords for problems with an endpoint or a recovery. The keyword for other such problems is `format`. */
const webhookKeywords: Partial<Record<keyof typeof webhookComplaints, string>> = {
  secret_missing: 'required',
  secret_of_other_origin: 'required',
  secret_not_taken: 'additionalProperties',
  extraction_not_taken: 'additionalProperties',
  agents_missing: 'minItems',
  agents_not_taken: 'const',
  recovery_too_old: 'minimum',
  recovery_empty: 'minimum',
}

function isOfWebhook(problem: Problem): problem is Extract<Problem, { kind: keyof typeof webhookComplaints }> {
  return Object.hasOwn(webhookComplaints, problem.kind)
}

/** Error messages about phone numbers. Each message follows the field's path. */
const numberComplaints = {
  number_invalid: 'is no phone number by the numbering plan of its country; write it in E.164, such as +12025550143',
  number_none_ready:
    'cannot be chosen, because no phone number of this organization can place calls now; GET /v1/phone-numbers lists them, and setupStatus says what each lacks',
  number_missing: 'must be a phone number of this organization; GET /v1/phone-numbers lists them',
  number_of_other_line:
    'must be of the same kind as the number of the call: both of the carrier, or both of SIP connections',
  answer_missing: 'needs intent with a language, and systemPrompt, because the number takes calls and names no agent',
  number_not_us: 'is no phone number of the United States; other numbers come over SIP connections',
}

function isOfPhoneNumber(problem: Problem): problem is Extract<Problem, { kind: keyof typeof numberComplaints }> {
  return Object.hasOwn(numberComplaints, problem.kind)
}

/** Returns the JSON Schema keyword closest to the problem. */
function keywordOf(problem: Problem): string {
  if (isOfBrand(problem)) return problem.kind === 'tax_number_missing' ? 'required' : 'format'
  if (isOfConnection(problem)) return connectionKeywords[problem.kind]
  if (isOfWebhook(problem)) return webhookKeywords[problem.kind] ?? 'format'
  switch (problem.kind) {
    case 'first_message_missing':
    case 'intent_missing':
    case 'destination_ambiguous':
    case 'options_missing':
    case 'setting_missing':
    case 'answer_missing':
      return 'required'
    case 'options_not_taken':
    case 'setting_not_taken':
    case 'secret_shown':
      return 'additionalProperties'
    case 'tools_too_many':
      return 'maxItems'
    case 'identity_not_of_caller':
    case 'identity_not_of_recipient':
    case 'number_of_other_line':
    case 'schema_not_of_object':
    case 'tool_not_webhook':
    case 'key_check_missing':
      return 'const'
    case 'repeated':
      return 'uniqueItems'
    case 'password_common':
      return 'blocklist'
    case 'max_delay_too_short':
      return 'minimum'
    case 'template_too_large':
    case 'template_expression_too_long':
    case 'template_too_costly':
    case 'descriptions_too_long':
    case 'password_length':
    case 'json_too_large':
    case 'json_too_deep':
    case 'schema_too_deep':
      return 'maxLength'
    case 'model_unknown':
    case 'provider_unknown':
    case 'voice_unknown':
    case 'transport_missing':
      return 'enum'
    case 'number_invalid':
    case 'number_not_us':
    case 'number_missing':
    case 'number_none_ready':
    case 'language_unknown':
    case 'timezone_unknown':
    case 'template_malformed':
    case 'schema_malformed':
    case 'schema_refers_outside':
    case 'placeholder_unknown':
      return 'format'
  }
}
