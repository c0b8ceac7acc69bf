/** Represents answers as items, for APIs that show messages, function calls and structured output separately. */

import type { LlmAnswer, LlmEvent, LlmRequest, LlmUsage, StopReason } from '../ports/llm.ts'
import type { Capability } from '../ports/model.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { Fault } from '../records/fault.ts'
import { AnswerAssembler, AssemblyError, type ItemEvent, type OutputItem } from './answer-assembler.ts'
import { type AnswerReader, endedEarly, type Settle } from './answer-events.ts'
import type { GenerateInput, Translation } from './generate.ts'
import { fewTokens, soFar, worstCase } from './tokens.ts'

export type ItemsInput = GenerateInput & { request: Omit<LlmRequest, 'model'> }
export type ItemsAnswer = { output: OutputItem[]; stopReason: StopReason; usage: LlmUsage }

type ItemsTranslation = Translation<ItemsInput, ItemsAnswer, ItemEvent>

/** Returns structured output as an item with parsed JSON. */
export const itemsTranslation = translationOf(({ request }) => request.responseFormat !== undefined)
/** Returns structured output as message text, as the model wrote it, even if the token limit cut it off. */
export const messagesTranslation = translationOf(() => false)

function translationOf(isStructured: (input: ItemsInput) => boolean): ItemsTranslation {
  return {
    opening: [{ type: 'created' }],
    emptyStream: 'empty',
    needs: ({ request }) => needsOf(request),
    worstCase: ({ request }) => worstCase(request),
    mayBeEmpty: ({ request }) => request.maxOutputTokens <= fewTokens,
    soFar: ({ request }, characters) => soFar(request, characters),
    // `model` is written before the spread, because V8 builds a new object for each field that follows a spread.
    requestOf: (model, { request }) => ({ model, ...request }),
    answerOf: (answer, input) => answerOf(answer, input, new AnswerAssembler(isStructured(input))),
    reader: (input, _route, settle) => new ItemReader(input, settle, new AnswerAssembler(isStructured(input))),
  }
}

function needsOf({ tools, responseFormat, reasoningEffort }: ItemsInput['request']): Capability[] {
  const needs: Capability[] = []
  if (tools.length > 0) needs.push('tools')
  if (responseFormat) needs.push('structured_output')
  if (reasoningEffort !== undefined) needs.push('reasoning')
  return needs
}

function answerOf(
  { text, calls, stopReason, usage }: LlmAnswer,
  input: ItemsInput,
  assembler: AnswerAssembler,
): ItemsAnswer | Fault {
  const events: ItemEvent[] = []
  assembler.push({ type: 'text', delta: text }, events)
  for (const [index, { callId, name, arguments: delta }] of calls.entries()) {
    assembler.push({ type: 'call', index, callId, name }, events)
    assembler.push({ type: 'arguments', index, delta }, events)
  }
  const output = finished(assembler, stopReason, input)
  return output instanceof Fault ? output : { output, stopReason, usage }
}

class ItemReader implements AnswerReader<LlmEvent, ItemEvent> {
  readonly #input: ItemsInput
  readonly #settle: Settle
  readonly #assembler: AnswerAssembler
  usage: LlmUsage | null = null

  constructor(input: ItemsInput, settle: Settle, assembler: AnswerAssembler) {
    this.#input = input
    this.#settle = settle
    this.#assembler = assembler
  }

  get characters(): number {
    return this.#assembler.characters
  }

  read(event: LlmEvent, ready: ItemEvent[]): boolean {
    if (event.type === 'end') {
      this.#complete(event.stopReason, event.usage, ready)
      return true
    }
    try {
      this.#assembler.push(event, ready)
    } catch (cause) {
      throw new ProviderError('protocol', { sent: true, cause })
    }
    return false
  }

  end(): never {
    throw endedEarly()
  }

  /** Settles the request before its last events are sent, because the last event contains the cost. */
  #complete(stopReason: StopReason, usage: LlmUsage, ready: ItemEvent[]): void {
    const output = finished(this.#assembler, stopReason, this.#input)
    this.usage = usage
    const costMicroUsd = this.#settle(usage, !(output instanceof Fault))
    if (output instanceof Fault) throw output
    for (const [index, item] of output.entries()) ready.push({ type: 'itemCompleted', index, item })
    ready.push({ type: 'completed', stopReason, usage, costMicroUsd })
  }
}

/**
 * Returns the finished items. A truncated answer is returned as a Fault, but does not count as a failed attempt,
 * because another model would be truncated by the same token limit.
 */
function finished(assembler: AnswerAssembler, stopReason: StopReason, input: ItemsInput): OutputItem[] | Fault {
  try {
    return assembler.finish(stopReason)
  } catch (cause) {
    if (cause instanceof AssemblyError && cause.truncated) return truncatedJson(input)
    throw new ProviderError('protocol', { sent: true, cause })
  }
}

function truncatedJson({ key }: ItemsInput): Fault {
  return new Fault({ kind: 'json_truncated' }, key ? { isKeySpent: true } : {})
}
