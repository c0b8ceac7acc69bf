import type { CompatResponseRequest } from '../../../generated/compat/types.ts'
import { namedFields } from './ignored-fields.ts'

/**
 * Returns the body's fields to list in `x-service-ignored`, because no model gets them. Clients often send fields they
 * do not need, so such a field is not an error.
 */
export function ignoredInResponse(body: CompatResponseRequest): readonly string[] {
  const fields = Object.keys(body).filter((field) => !understood.has(field) && asks(field, body[field]))
  if (asks('verbosity', body.text?.['verbosity'])) fields.push('text.verbosity')
  if (asks('summary', body.reasoning?.['summary'])) fields.push('reasoning.summary')
  return namedFields(fields)
}

/**
 * Fields that are not listed as ignored. `store` and `metadata` do not change the response. Refused fields never reach
 * this check.
 */
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

/** For each field, the values with the same meaning as an absent field. */
const neutral: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['parallel_tool_calls', [true]],
  ['truncation', ['disabled']],
  ['service_tier', ['auto', 'default']],
  ['top_logprobs', [0]],
  ['verbosity', ['medium']],
])

function asks(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  // False requests nothing, except in `parallel_tool_calls`, where it requests one call at a time.
  if (value === false) return field === 'parallel_tool_calls'
  if (Array.isArray(value)) return value.length > 0
  return !neutral.get(field)?.includes(value)
}
