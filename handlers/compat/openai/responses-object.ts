/**
 * The response object in OpenAI's Responses API. It is the whole body if the response is not streamed. A streamed
 * response has it in several events.
 */
import type { Route } from '../../../domain/dispatch/request.ts'
import type { OutputItem } from '../../../domain/llm/answer-assembler.ts'
import type { ItemsAnswer } from '../../../domain/llm/items.ts'
import type { LlmUsage } from '../../../domain/ports/llm.ts'
import { modelName } from '../../../domain/routing/model-name.ts'
import type {
  CompatResponse,
  CompatResponseFailure,
  CompatResponseItem,
  CompatResponsePart,
  CompatResponseRequest,
  CompatResponseStatus,
  CompatResponseUsage,
} from '../../../generated/compat/types.ts'

/** Returns the response object before its first item. */
export function begunResponse(
  body: CompatResponseRequest,
  requestId: string,
  { provider, model }: Route,
  createdS: number,
): CompatResponse {
  return {
    id: `resp_${requestId}`,
    object: 'response',
    created_at: createdS,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: modelName(provider, model),
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] !== false,
    previous_response_id: null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
    store: false,
    temperature: body.temperature ?? null,
    text: { format: body.text?.format ?? { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    truncation: 'disabled',
    usage: null,
  }
}

export function endedResponse(
  begun: CompatResponse,
  requestId: string,
  { output, stopReason, usage }: ItemsAnswer,
): CompatResponse {
  const isCut = stopReason === 'max_output_tokens'
  return {
    ...begun,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    // The token limit can cut off only the last item.
    output: output.map((item, index) =>
      itemOf(requestId, index, item, isCut && index === output.length - 1 ? 'incomplete' : 'completed'),
    ),
    usage: usageOf(usage),
  }
}

export function failedResponse(begun: CompatResponse, error: CompatResponseFailure): CompatResponse {
  return { ...begun, status: 'failed', error }
}

/** Returns an item's id, which is the same in all events. */
export function itemId(requestId: string, index: number, type: OutputItem['type']): string {
  return `${type === 'function_call' ? 'fc' : 'msg'}_${requestId}_${index}`
}

export function partOf(text: string): CompatResponsePart {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function itemOf(requestId: string, index: number, item: OutputItem, status: CompatResponseStatus): CompatResponseItem {
  const id = itemId(requestId, index, item.type)
  if (item.type === 'function_call') {
    const { callId, name, arguments: text } = item
    return { id, type: 'function_call', status, call_id: callId, name, arguments: text }
  }
  const text = item.type === 'message' ? item.text : JSON.stringify(item.json)
  return { id, type: 'message', status, role: 'assistant', content: [partOf(text)] }
}

/** Converts token counts. In Responses, cached and reasoning tokens count inside the input and the output. */
function usageOf({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens }: LlmUsage): CompatResponseUsage {
  const [input, output] = [inputTokens + cachedInputTokens, outputTokens + reasoningTokens]
  return {
    input_tokens: input,
    // OpenAI's SDKs and LiveKit require both fields. LlmUsage has no cache writes. Anthropic's cache writes are counted
    // in input_tokens.
    input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: input + output,
  }
}
