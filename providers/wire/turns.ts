/**
 * Converts a conversation for vendors that allow only two roles and take system messages separately. Consecutive items
 * from one role become one turn, because these vendors refuse function calls unless all results are in the next turn.
 */
import { argumentsText } from '../../domain/llm/tool-arguments.ts'
import type { LlmItem } from '../../domain/ports/llm.ts'
import { parseJson } from '../../runtime/engine/json.ts'
import { isObject, type JsonObject } from './json.ts'

type Turn<Part> = { speaker: 'user' | 'model'; parts: Part[] }
type Call = Extract<LlmItem, { type: 'function_call' }>

/** Joins the system messages to one text. Returns an empty text if there are no system messages. */
export function systemOf(items: readonly LlmItem[]): string {
  const texts = items.map((item) => (item.type === 'message' && item.role === 'system' ? item.text : ''))
  return texts.filter((text) => text !== '').join('\n\n')
}

/**
 * Returns all items except the system messages. Messages without text are left out, because vendors refuse them. Within
 * a turn, function results are placed first. Otherwise a message sent while a function runs would be between the
 * function call and its result.
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
 * Returns an earlier function call's arguments as an object, because these vendors require an object. If the arguments
 * are not a JSON object, for example because a token limit truncated them, they are passed as text in the field
 * `INVALID_JSON`, as Anthropic's documents recommend.
 */
export function argumentsOf(call: Call): JsonObject {
  const value = parsed(argumentsText(call.arguments))
  return isObject(value) ? value : { INVALID_JSON: call.arguments }
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
