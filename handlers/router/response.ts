import type { ItemEvent, OutputItem } from '../../domain/llm/answer-assembler.ts'
import type { Generate, Generated, GeneratedStream } from '../../domain/llm/generate.ts'
import type { ItemsAnswer, ItemsInput } from '../../domain/llm/items.ts'
import type { LlmItem, LlmTool, LlmUsage } from '../../domain/ports/llm.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { CreateResponseEvent, RouterHandlers } from '../../generated/router/handlers.ts'
import type {
  InputItem,
  LLMRequest,
  LLMResponse,
  LLMUsage,
  Tool,
  ToolChoice,
  OutputItem as WireOutputItem,
} from '../../generated/router/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { jsonText } from '../json-text.ts'
import { routeHeaders, wireRoute } from '../views/route.ts'
import { contextOf } from './context.ts'
import { routingOf } from './routing.ts'

export type ResponseDeps = { generate: Generate<ItemsInput, ItemsAnswer, ItemEvent>; region: string }

export function createResponse(deps: ResponseDeps): RouterHandlers<Caller>['createResponse'] {
  return async ({ header, body }, context) => {
    const { caller, requestId, operation, key, signal } = contextOf(header, context)
    const { trace, logFields } = context
    const routing = routingOf(body.routing, caller)
    const request = requestOf(body)
    const id = `resp_${requestId}`
    // The fields are listed one by one, because spreading the context object takes longer than all other work on this
    // path.
    const input: ItemsInput = { caller, requestId, operation, key, signal, trace, logFields, routing, request }
    return body.stream
      ? streamed(await deps.generate.stream(input), id)
      : answered(await deps.generate.whole(input), id, deps.region)
  }
}

function answered({ route, answer, costMicroUsd }: Generated<ItemsAnswer>, id: string, region: string) {
  const { output, stopReason, usage } = answer
  const body: LLMResponse = {
    id,
    route: wireRoute(route, region),
    output: output.map(itemOf),
    stop_reason: stopReason,
    usage: usageOf(usage, costMicroUsd),
  }
  return { status: 200 as const, type: 'application/json' as const, headers: routeHeaders(route), body }
}

function streamed({ route, events }: GeneratedStream<ItemEvent>, id: string) {
  const body = wireEvents(events, id)
  return { status: 200 as const, type: 'text/event-stream' as const, headers: routeHeaders(route), body }
}

/** Yields events. The HTTP engine turns an error in this iteration into the `error` event. */
async function* wireEvents(events: AsyncIterable<ItemEvent>, id: string): AsyncGenerator<CreateResponseEvent> {
  for await (const event of events) yield eventOf(event, id)
}

function eventOf(event: ItemEvent, id: string): CreateResponseEvent {
  switch (event.type) {
    case 'created':
      return { event: 'response.created', data: { response_id: id } }
    case 'itemAdded':
      return { event: 'response.item.added', data: { output_index: event.index, item: shellOf(event.item) } }
    case 'textDelta':
      return { event: 'response.text.delta', data: { output_index: event.index, delta: event.delta } }
    case 'argumentsDelta':
      return {
        event: 'response.function_call_arguments.delta',
        data: { output_index: event.index, delta: event.delta },
      }
    case 'itemCompleted':
      return { event: 'response.item.completed', data: { output_index: event.index, item: itemOf(event.item) } }
    case 'completed':
      return {
        event: 'response.completed',
        data: { stop_reason: event.stopReason, usage: usageOf(event.usage, event.costMicroUsd) },
      }
  }
}

function shellOf(item: Extract<ItemEvent, { type: 'itemAdded' }>['item']) {
  switch (item.type) {
    case 'message':
      return { type: 'message' as const, role: 'assistant' as const, content: [] }
    case 'function_call':
      return { type: 'function_call' as const, call_id: item.callId, name: item.name }
    case 'structured_json':
      return { type: 'structured_json' as const }
  }
}

function itemOf(item: OutputItem): WireOutputItem {
  switch (item.type) {
    case 'message':
      return { type: 'message', role: 'assistant', content: [{ type: 'text', text: item.text }] }
    case 'function_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments }
    case 'structured_json':
      return { type: 'structured_json', json: item.json }
  }
}

/** Writes the usage. Zero counts are left out. The cost is always present, because null means unknown. */
function usageOf(usage: LlmUsage, costMicroUsd: number | null): LLMUsage {
  const wire: LLMUsage = { cost_micro_usd: costMicroUsd }
  if (usage.inputTokens) wire.input_tokens = usage.inputTokens
  if (usage.cachedInputTokens) wire.cached_input_tokens = usage.cachedInputTokens
  if (usage.outputTokens) wire.output_tokens = usage.outputTokens
  if (usage.reasoningTokens) wire.reasoning_tokens = usage.reasoningTokens
  return wire
}

function requestOf(wire: LLMRequest): ItemsInput['request'] {
  const request: ItemsInput['request'] = {
    items: wire.input.map(inputOf),
    maxOutputTokens: wire.max_output_tokens,
    tools: wire.tools ? toolsOf(wire.tools) : [],
  }
  if (wire.tool_choice) request.toolChoice = toolChoiceOf(wire.tool_choice, request.tools)
  if (wire.response_format) request.responseFormat = responseFormatOf(wire.response_format)
  if (wire.temperature !== undefined) request.temperature = wire.temperature
  if (wire.top_p !== undefined) request.topP = wire.top_p
  if (wire.reasoning) request.reasoningEffort = wire.reasoning.effort
  return request
}

function responseFormatOf({ name, schema, strict }: NonNullable<LLMRequest['response_format']>) {
  return { name, schema, ...(strict !== undefined && { strict }) }
}

function inputOf(item: InputItem, index: number): LlmItem {
  switch (item.type) {
    case 'message':
      return { type: 'message', role: item.role, text: item.content.map((part) => part.text).join('') }
    case 'function_call':
      return {
        type: 'function_call',
        callId: item.call_id,
        name: item.name,
        arguments: jsonText(item.arguments, `/input/${index}/arguments`),
      }
    case 'function_result':
      return { type: 'function_result', callId: item.call_id, result: item.result ?? '' }
  }
}

/**
 * Reads the tools. Throws the refusal invalid_parameter if two tools share a name, because a tool call could mean
 * either.
 */
function toolsOf(tools: readonly Tool[]): LlmTool[] {
  const names = new Set<string>()
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name))
      throw new Refusal('invalid_parameter', {
        param: `/tools/${index}/name`,
        message: 'Two tools have this name.',
        hint: 'Give each tool a name of its own.',
      })
    names.add(name)
  }
  return tools.map(toolOf)
}

function toolOf({ name, description, parameters }: Tool): LlmTool {
  return { name, ...(description !== undefined && { description }), ...(parameters && { parameters }) }
}

/**
 * Reads the tool choice. Throws the refusal invalid_parameter for a choice without a tool, because a provider would
 * refuse it after the idempotency key was spent.
 */
function toolChoiceOf(wire: ToolChoice, tools: readonly LlmTool[]) {
  const choice = typeof wire === 'string' ? wire : { name: wire.name }
  const hasNone = choice === 'required' && tools.length === 0
  const hasOther = typeof choice === 'object' && !tools.some(({ name }) => name === choice.name)
  if (!hasNone && !hasOther) return choice
  const message = hasNone
    ? 'tool_choice is required, but there are no tools.'
    : 'tool_choice names a function that is not in tools.'
  throw new Refusal('invalid_parameter', { param: '/tool_choice', message })
}
