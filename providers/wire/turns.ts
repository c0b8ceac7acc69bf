/**
 * A conversation for vendors that know two speakers and take the system's words apart from it. What one speaker says or does in a row is one turn,
 * because these vendors refuse calls whose results do not all stand in the turn right after them.
 */
import type { LlmItem } from '../../domain/llm/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { isObject, type JsonObject } from './json.ts'

type Turn<Part> = { speaker: 'user' | 'model'; parts: Part[] }
type Call = Extract<LlmItem, { type: 'function_call' }>

/** Empty where there is nothing to instruct. */
export function systemOf(items: readonly LlmItem[]): string {
  const texts = items.map((item) => (item.type === 'message' && item.role === 'system' ? item.text : ''))
  return texts.filter((text) => text !== '').join('\n\n')
}

/**
 * All but the system's words. Messages without text are left out: they say nothing, and vendors refuse them. Within a turn results go first, since who
 * speaks while a tool is at work must not come between it and its call.
 */
export function turnsOf<Part>(items: readonly LlmItem[], partOf: (item: LlmItem) => Part): Turn<Part>[] {
  const turns: (Turn<Part> & { results: number })[] = []
  for (const item of items) {
    if (item.type === 'message' && (item.role === 'system' || item.text === '')) continue
    const speaker = speakerOf(item)
    const last = turns.at(-1)
    const turn = last?.speaker === speaker ? last : { speaker, parts: [] as Part[], results: 0 }
    if (turn !== last) turns.push(turn)
    if (item.type === 'function_result') turn.parts.splice(turn.results++, 0, partOf(item))
    else turn.parts.push(partOf(item))
  }
  return turns
}

/** The arguments of an earlier call as the object that these vendors want. ProviderError `bad_request` where they are none. */
export function argumentsOf(call: Call): JsonObject {
  if (call.arguments === '') return {}
  const value = parsed(call.arguments)
  if (isObject(value)) return value
  throw new ProviderError('bad_request', { sent: false, cause: 'the arguments of a call are no JSON object' })
}

function speakerOf(item: LlmItem): 'user' | 'model' {
  if (item.type === 'message') return item.role === 'assistant' ? 'model' : 'user'
  return item.type === 'function_call' ? 'model' : 'user'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The error would quote the text.
    return undefined
  }
}
