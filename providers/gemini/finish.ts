/** What `finishReason` and `promptFeedback.blockReason` mean. A stream has no other terminal mark than the former. */
import type { StopReason } from '../../domain/llm/llm.ts'
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject } from '../wire/json.ts'

/** `filtered`: the vendor withheld the rest. */
type Finish = Extract<StopReason, 'stop' | 'max_output_tokens'> | 'filtered'

/** Throws ProviderError for a reason that is a failure, and `protocol` for one that is missing or not known. */
export function finishOf(reason: unknown): Finish {
  if (reason === undefined) throw protocolError('no finishReason')
  const word = wordOf(reason)
  const finish = finishes[word]
  if (finish !== undefined) return finish
  throw new ProviderError(failures[word] ?? 'protocol', { sent: true, cause: word })
}

/** Throws ProviderError `bad_request` for a prompt that was blocked: then there is no candidate, and never will be. */
export function refuseBlocked({ promptFeedback }: JsonObject): void {
  const reason = isObject(promptFeedback) ? promptFeedback['blockReason'] : undefined
  if (reason !== undefined) throw filtered(reason)
}

/** Another provider is not to be tried for what this one did not let pass. */
export const filtered = (reason: unknown) => new ProviderError('bad_request', { sent: true, cause: wordOf(reason) })

const wordOf = (reason: unknown) => (typeof reason === 'string' ? reason.slice(0, 64) : 'no word')

const finishes: Partial<Record<string, Finish>> = {
  STOP: 'stop',
  MAX_TOKENS: 'max_output_tokens',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
}

const failures: Partial<Record<string, ErrorClass>> = {
  LANGUAGE: 'unsupported',
  OTHER: 'server',
  // The model made no sense; another may.
  MALFORMED_FUNCTION_CALL: 'protocol',
  UNEXPECTED_TOOL_CALL: 'protocol',
  TOO_MANY_TOOL_CALLS: 'protocol',
}
