import { setImmediate as afterOthers } from 'node:timers/promises'
import type { Llm, LlmItem, LlmRequest, LlmUsage, StopReason } from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'

/** An answer. `text` is a part of the last user text. */
type Echo = { text: string; stopReason: StopReason; usage: LlmUsage }

/**
 * Repeats the last user text word by word. A word counts as a token. A text can have 4 million words, so they are
 * counted in place, with pauses: splitting the text into a list blocked the event loop for a second.
 */
export const loopbackLlm: Llm = {
  async respond(request) {
    const { text, stopReason, usage } = await echo(request)
    return { text, calls: [], stopReason, usage }
  },
  async *stream(request, signal) {
    const { text, stopReason, usage } = await echo(request)
    for (let from = 0; from < text.length; ) {
      if (signal.aborted) throw new ProviderError('cancelled', { sent: true, cause: signal.reason })
      const end = wordEnd(text, from)
      yield await afterOthers({ type: 'text' as const, delta: text.slice(from, end) })
      from = end
    }
    yield { type: 'end', stopReason, usage }
  },
}

async function echo({ items, maxOutputTokens }: LlmRequest): Promise<Echo> {
  const last = items.findLast((item) => item.type === 'message' && item.role === 'user')
  const said = last ? await countWords(textOf(last), maxOutputTokens) : { count: 0, end: 0 }
  let inputTokens = said.count
  for (const item of items) if (item !== last) inputTokens += (await countWords(textOf(item), 0)).count
  return {
    text: last ? textOf(last).slice(0, said.end) : '',
    stopReason: said.count > maxOutputTokens ? 'max_output_tokens' : 'stop',
    usage: {
      inputTokens,
      cachedInputTokens: 0,
      outputTokens: Math.min(said.count, maxOutputTokens),
      reasoningTokens: 0,
    },
  }
}

/** The maximum number of characters read before other requests are served. */
const charactersAtOnce = 1_000_000

/** Counts the words, and finds where the first `wordsMax` words end. */
async function countWords(text: string, wordsMax: number): Promise<{ count: number; end: number }> {
  const words = { count: 0, end: 0 }
  // Reading and validating a long body has already blocked other requests, so they are served first.
  if (text.length > charactersAtOnce) await afterOthers()
  let pauseAt = charactersAtOnce
  for (let [from, end] = [0, wordEnd(text, 0)]; end > from; [from, end] = [end, wordEnd(text, end)]) {
    words.count += 1
    if (words.count <= wordsMax) words.end = end
    if (end < pauseAt) continue
    pauseAt = end + charactersAtOnce
    await afterOthers()
  }
  return words
}

/**
 * Returns the end of the next word at or after `from`, including the white space after the word. Returns `from` if no
 * word is left.
 */
function wordEnd(text: string, from: number): number {
  const start = skip(text, from, true)
  return start === text.length ? from : skip(text, skip(text, start, false), true)
}

/** Skips white space if `space` is true, otherwise all other characters. Returns the next position. */
function skip(text: string, from: number, space: boolean): number {
  let at = from
  while (at < text.length && isSpace(text.charCodeAt(at)) === space) at += 1
  return at
}

/** Returns true for white space as in ECMAScript, 12.2 and 12.3. */
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d)
  if (code < 0x2000) return code === 0xa0 || code === 0x1680
  if (code <= 0x205f) return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f
  return code === 0x3000 || code === 0xfeff
}

function textOf(item: LlmItem): string {
  if (item.type === 'message') return item.text
  return item.type === 'function_call' ? item.arguments : item.result
}
