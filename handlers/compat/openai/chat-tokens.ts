/** Estimates a chat request's tokens. The body is not validated in depth, so every text in it counts. */
import type { Quantity } from '../../../domain/billing/ledger.ts'

/**
 * The limit on output tokens if the client sets no limit. Credit is reserved for this many tokens, and a request
 * translated for a provider with another protocol contains it. Only used tokens are billed.
 */
export const outputTokensDefault = 4096
/** The fewest UTF-8 bytes per token in a common writing system, for an upper bound of the token count. */
const bytesPerTokenLeast = 2
/** The usual bytes per token, as in English. */
const bytesPerToken = 4
/** Tokens for a picture or recording of usual size. They do not depend on the number of encoded bytes. */
const mediaTokens = 2000
const mediaFields: ReadonlySet<string> = new Set(['url', 'data', 'file_data'])

export type ChatTokens = { body: Readonly<Record<string, unknown>>; maxOutputTokens?: number }

/** Returns the request's maximum consumption, for the credit reservation. */
export function worstCaseOfChat({ body, maxOutputTokens = outputTokensDefault }: ChatTokens): Quantity[] {
  const choices = typeof body['n'] === 'number' && body['n'] > 1 ? body['n'] : 1
  return [
    { unit: 'input_tokens', amount: inputTokens(body, bytesPerTokenLeast) },
    { unit: 'output_tokens', amount: maxOutputTokens * choices },
  ]
}

/** Returns the probable consumption so far, for a client that disconnects before the response's end. */
export function chatSoFar({ body }: ChatTokens, characters: number): Quantity[] {
  return [
    { unit: 'input_tokens', amount: inputTokens(body, bytesPerToken) },
    { unit: 'output_tokens', amount: Math.ceil(characters / bytesPerToken) },
  ]
}

function inputTokens({ messages, tools, response_format: format }: ChatTokens['body'], perToken: number): number {
  const counted = { bytes: 0, media: 0 }
  for (const value of [messages, tools, format]) count(value, '', counted)
  return Math.ceil(counted.bytes / perToken) + counted.media * mediaTokens
}

/** Counts a value's strings at every depth. The JSON parser bounds the depth. */
function count(value: unknown, name: string, counted: { bytes: number; media: number }): void {
  if (typeof value === 'string') {
    if (mediaFields.has(name)) counted.media += 1
    else counted.bytes += Buffer.byteLength(value)
  } else if (Array.isArray(value)) for (const each of value) count(each, name, counted)
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      counted.bytes += key.length
      count(each, key, counted)
    }
}
