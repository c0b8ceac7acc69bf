import type { Quantity } from '../billing/ledger.ts'
import type { LlmItem, LlmRequest, LlmUsage } from '../ports/llm.ts'

/**
 * These ratios estimate the number of tokens from the bytes, before a provider has counted the tokens. Current
 * tokenizers make one token from 3 to 4 bytes in most scripts, and from 2 bytes in the worst common script. So a text
 * has at most half as many tokens as bytes.
 */
const bytesPerTokenLeast = 2
const charactersPerToken = 4
/** The tokens for each item's role and separators. */
const tokensPerItem = 8

/** A token limit up to this number can cause an empty answer, because a single word may need more tokens. */
export const fewTokens = 16

type Request = Omit<LlmRequest, 'model'>

/** Returns a request's maximum consumption, for the credit reservation. */
export function worstCase(request: Request): Quantity[] {
  return [
    { unit: 'input_tokens', amount: Math.ceil(inputBytes(request) / bytesPerTokenLeast) + overhead(request) },
    { unit: 'output_tokens', amount: request.maxOutputTokens },
  ]
}

/** Estimates the consumption if the reader stopped before the answer was complete. */
export function soFar(request: Request, characters: number): Quantity[] {
  return quantitiesOf({
    inputTokens: Math.ceil(inputBytes(request) / charactersPerToken) + overhead(request),
    cachedInputTokens: 0,
    outputTokens: Math.ceil(characters / charactersPerToken),
    reasoningTokens: 0,
  })
}

export function quantitiesOf(usage: LlmUsage): Quantity[] {
  const quantities: Quantity[] = []
  if (usage.inputTokens > 0) quantities.push({ unit: 'input_tokens', amount: usage.inputTokens })
  if (usage.cachedInputTokens > 0) quantities.push({ unit: 'cached_input_tokens', amount: usage.cachedInputTokens })
  if (usage.outputTokens > 0) quantities.push({ unit: 'output_tokens', amount: usage.outputTokens })
  if (usage.reasoningTokens > 0) quantities.push({ unit: 'reasoning_tokens', amount: usage.reasoningTokens })
  return quantities
}

function overhead(request: Request): number {
  return (request.items.length + request.tools.length) * tokensPerItem
}

function inputBytes({ items, tools, responseFormat }: Request): number {
  const text = items.reduce((sum, item) => sum + bytesOf(item), 0)
  const schemas = tools.length > 0 || responseFormat ? Buffer.byteLength(JSON.stringify([tools, responseFormat])) : 0
  return text + schemas
}

function bytesOf(item: LlmItem): number {
  switch (item.type) {
    case 'message':
      return Buffer.byteLength(item.text)
    case 'function_call':
      return Buffer.byteLength(item.name) + Buffer.byteLength(item.arguments)
    case 'function_result':
      return Buffer.byteLength(item.result)
  }
}
