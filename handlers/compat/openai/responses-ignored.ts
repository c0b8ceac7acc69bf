import type { CompatResponseRequest } from '../../../generated/compat/types.ts'
import { namedFields } from './ignored-fields.ts'

/**
 * The body's fields that no model gets, for `x-service-ignored`. Clients send more than they must, so these fields are
 * no error.
 */
export function ignoredInResponse(body: CompatResponseRequest): readonly string[] {
  const fields = Object.keys(body).filter((field) => !understood.has(field) && asks(field, body[field]))
  if (asks('verbosity', body.text?.['verbosity'])) fields.push('text.verbosity')
  if (asks('summary', body.reasoning?.['summary'])) fields.push('reasoning.summary')
  return namedFields(fields)
}

/** `store` and `metadata` change no answer. Refused fields never reach this check. */
const understood: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'text',
  'reasoning',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'stream_options',
  'metadata',
  'store',
])

/** Values that mean the same as an absent field. */
const neutral: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['parallel_tool_calls', [true]],
  ['truncation', ['disabled']],
  ['service_tier', ['auto', 'default']],
  ['top_logprobs', [0]],
  ['verbosity', ['medium']],
])

function asks(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  // False requests nothing, except here: one call at a time.
  if (value === false) return field === 'parallel_tool_calls'
  if (Array.isArray(value)) return value.length > 0
  return !neutral.get(field)?.includes(value)
}
