/** What a chat request can consume. Its body is the client's own, so only its texts are counted, wherever they stand. */
import type { Quantity } from '../billing/ledger.ts'
import type { PassThroughRequest } from './llm.ts'

/** Answers of clients that set no limit: credit is reserved for this much, a translated request is held to it, and what was used is what is billed. */
export const outputTokensUnsaid = 4096
/** Tokenizers make one token of 2 bytes in the worst of the common scripts, and of 4 characters in English. */
const bytesPerTokenLeast = 2
const bytesPerToken = 4
/** A picture or a recording of usual size; its encoded bytes say nothing of it. */
const mediaTokens = 2000
const mediaFields: ReadonlySet<string> = new Set(['url', 'data', 'file_data'])

export type ChatTokens = { body: PassThroughRequest['body']; maxTokens?: number }

/** The most that a request can consume, to reserve credit for. */
export function worstCaseOfChat({ body, maxTokens = outputTokensUnsaid }: ChatTokens): Quantity[] {
  const choices = typeof body['n'] === 'number' && body['n'] > 1 ? body['n'] : 1
  return [
    { unit: 'input_tokens', amount: inputTokens(body, bytesPerTokenLeast) },
    { unit: 'output_tokens', amount: maxTokens * choices },
  ]
}

/** What an answer that its reader left is likely to have consumed. */
export function chatSoFar({ body }: ChatTokens, characters: number): Quantity[] {
  return [
    { unit: 'input_tokens', amount: inputTokens(body, bytesPerToken) },
    { unit: 'output_tokens', amount: Math.ceil(characters / bytesPerToken) },
  ]
}

function inputTokens(
  { messages, tools, response_format: format }: PassThroughRequest['body'],
  perToken: number,
): number {
  const counted = { bytes: 0, media: 0 }
  for (const value of [messages, tools, format]) count(value, '', counted)
  return Math.ceil(counted.bytes / perToken) + counted.media * mediaTokens
}

/** Depth needs no bound of its own: the body was parsed from JSON, which has one. */
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
