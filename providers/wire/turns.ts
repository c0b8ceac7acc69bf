/**
 * A conversation for vendors that have two speakers and take the system's messages separately. Consecutive items of
 * one speaker are one turn, because these vendors refuse function calls whose results are not all in the next turn.
 */
import type { LlmItem } from '../../domain/ports/llm.ts'
import { parseJson } from '../../runtime/engine/json.ts'
import { isObject, type JsonObject } from './json.ts'

type Turn<Part> = { speaker: 'user' | 'model'; parts: Part[] }
type Call = Extract<LlmItem, { type: 'function_call' }>

/** The system's messages as one text; empty without any. */
export function systemOf(items: readonly LlmItem[]): string {
  const texts = items.map((item) => (item.type === 'message' && item.role === 'system' ? item.text : ''))
  return texts.filter((text) => text !== '').join('\n\n')
}

/**
 * All items but the system's messages. Messages without text are left out, because vendors refuse them. Within a turn
 * the results of functions go first, so that a message which came while a function ran is not between the call and
 * its result.
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

/**
 * The arguments of an earlier call as the object that these vendors require. Arguments that are no JSON object, such as
 * those that a limit on tokens cut off, go on as text under the name that Anthropic's documents give for them.
 */
export function argumentsOf(call: Call): JsonObject {
  const value = parsed(argumentsText(call))
  return isObject(value) ? value : { INVALID_JSON: call.arguments }
}

/** Models call a function without parameters with a blank text. Servers that read the arguments as JSON refuse it. */
export function argumentsText({ arguments: text }: Call): string {
  return text.trim() === '' ? '{}' : text
}

function speakerOf(item: LlmItem): 'user' | 'model' {
  if (item.type === 'message') return item.role === 'assistant' ? 'model' : 'user'
  return item.type === 'function_call' ? 'model' : 'user'
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
