import { setImmediate as afterOthers } from 'node:timers/promises'
import type { Llm, LlmItem, LlmRequest, LlmUsage, StopReason } from '../../domain/llm/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'

type Echo = { words: string[]; stopReason: StopReason; usage: LlmUsage }

/** Repeats the last user text word by word. A word counts as a token. */
export const loopbackLlm: Llm = {
  respond(request) {
    const { words, stopReason, usage } = echo(request)
    return Promise.resolve({ text: words.join(''), calls: [], stopReason, usage })
  },
  async *stream(request, signal) {
    const { words, stopReason, usage } = echo(request)
    for (const delta of words) {
      if (signal.aborted) throw new ProviderError('cancelled', { sent: true, cause: signal.reason })
      yield await afterOthers({ type: 'text' as const, delta })
    }
    yield { type: 'end', stopReason, usage }
  },
}

function echo({ items, maxOutputTokens }: LlmRequest): Echo {
  const lastText = items.findLast((item) => item.type === 'message' && item.role === 'user')
  const all = wordsOf(lastText ? textOf(lastText) : '')
  const words = all.slice(0, maxOutputTokens)
  const inputTokens = items.reduce((sum, item) => sum + wordsOf(textOf(item)).length, 0)
  return {
    words,
    stopReason: words.length < all.length ? 'max_output_tokens' : 'stop',
    usage: { inputTokens, cachedInputTokens: 0, outputTokens: words.length, reasoningTokens: 0 },
  }
}

/** Each word keeps the space behind it, so that the words join to the same text. */
const wordsOf = (text: string): string[] => text.match(/\s*\S+\s*/g) ?? []

function textOf(item: LlmItem): string {
  if (item.type === 'message') return item.text
  return item.type === 'function_call' ? item.arguments : item.result
}
