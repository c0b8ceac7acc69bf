/**
 * Converts a domain request into the body for POST /v1/messages. If the model does not support a field, the request is
 * refused here, so another model is tried.
 */
import { type RefusableField, UnsupportedField } from '../../domain/llm/unsupported-field.ts'
import type { LlmItem, LlmRequest, LlmTool, ResponseFormat, ToolChoice } from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { argumentsOf, systemOf, turnsOf } from '../wire/turns.ts'
import { type Traits, traitsOf } from './models.ts'
import { settingsBody } from './settings.ts'

/** Makes the body for POST /v1/messages. Throws ProviderError `unsupported` if this model does not support a field. */
export function messagesBody(request: LlmRequest): JsonObject {
  const traits = traitsOf(request.model)
  const system = systemOf(request.items)
  const { output_config: effort, ...thinking } = thinkingOf(request, traits)
  const format = request.responseFormat && { format: outputFormat(request.responseFormat) }
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    messages: turnsOf(request.items, block).map(({ speaker, parts }) => ({
      role: speaker === 'model' ? 'assistant' : 'user',
      content: parts,
    })),
    ...(system !== '' && { system }),
    ...sampling(request, traits),
    ...settingsBody(request),
    ...thinking,
    ...((effort || format) && { output_config: { ...effort, ...format } }),
    // The vendor refuses a tool choice without tools.
    ...(request.tools.length > 0 && {
      tools: request.tools.map(tool),
      ...toolChoiceOf(request),
    }),
  }
}

function refuse(field: RefusableField, reason: string): never {
  throw new ProviderError('unsupported', { sent: false, cause: new UnsupportedField(field, reason) })
}

function block(item: LlmItem): object {
  switch (item.type) {
    case 'message':
      return { type: 'text', text: item.text }
    case 'function_call':
      return { type: 'tool_use', id: item.callId, name: item.name, input: argumentsOf(item) }
    case 'function_result':
      return { type: 'tool_result', tool_use_id: item.callId, content: item.result }
  }
}

type Thinking = { output_config?: object; thinking?: object }

function thinkingOf({ reasoningEffort, toolChoice, tools }: LlmRequest, traits: Traits): Thinking {
  const withoutThinking = reasoningEffort === 'none'
  const forced = tools.length > 0 && toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
  if (forced && reasoningEffort !== undefined && !withoutThinking)
    return refuse('toolChoice', 'a forced tool with reasoning')
  if (forced) return traits.withoutThinking ?? refuse('toolChoice', 'a forced tool')
  if (withoutThinking) return traits.withoutThinking ?? refuse('reasoningEffort', 'no reasoning')
  if (reasoningEffort === undefined) return {}
  return traits.efforts[reasoningEffort] ?? refuse('reasoningEffort', 'the reasoning effort')
}

/**
 * Returns the sampling fields. Temperature 1 is the vendor's maximum and default. This value is left out, because every
 * model accepts a request without a temperature.
 */
function sampling({ temperature, topP }: LlmRequest, traits: Traits): JsonObject {
  const fields = {
    ...(temperature !== undefined && temperature !== 1 && { temperature }),
    ...(topP !== undefined && topP !== 1 && { top_p: topP }),
  }
  if (!traits.sampling && 'temperature' in fields) return refuse('temperature', 'sampling')
  if (!traits.sampling && 'top_p' in fields) return refuse('topP', 'sampling')
  if (temperature !== undefined && temperature > 1) return refuse('temperature', 'a temperature above 1')
  return fields
}

const tool = ({ name, description, parameters }: LlmTool) => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: parameters ?? { type: 'object' },
})

/**
 * In this API the flag for parallel tool calls is a field in the tool choice, and is accepted with every choice except
 * `none`.
 */
function toolChoiceOf({ toolChoice, parallelToolCalls }: LlmRequest): JsonObject {
  const alone = parallelToolCalls === false && toolChoice !== 'none'
  if (!alone) return toolChoice ? { tool_choice: choice(toolChoice) } : {}
  return { tool_choice: { ...choice(toolChoice ?? 'auto'), disable_parallel_tool_use: true } }
}

function choice(chosen: ToolChoice): object {
  if (typeof chosen === 'object') return { type: 'tool', name: chosen.name }
  return { type: chosen === 'required' ? 'any' : chosen }
}

function outputFormat({ schema }: ResponseFormat): object {
  return { type: 'json_schema', schema: closed(schema) }
}

/**
 * Sets `additionalProperties: false` on the schema's objects, because the vendor requires it. If an object has no
 * `additionalProperties`, this only narrows the response. If an object explicitly allows additional properties, the
 * request is refused.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isObject(schema)) return schema
  const fields = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closedUnder(name, value)]))
  if (schema['type'] !== 'object') return fields
  const open = schema['additionalProperties'] ?? schema['properties'] === undefined
  return open === false ? { ...fields, additionalProperties: false } : refuse('responseFormat', 'an open object')
}

/**
 * Calls `closed` for the schemas in a JSON Schema keyword's value. Examples and constants are values and not schemas.
 * `properties` and `$defs` hold schemas under the client's names.
 */
function closedUnder(name: string, value: unknown): unknown {
  if (name === 'enum' || name === 'const' || name === 'default' || name === 'examples') return value
  if ((name !== 'properties' && name !== '$defs') || !isObject(value)) return closed(value)
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, closed(schema)]))
}
