/** Converts a domain request into the body for generateContent. */
import { type RefusableField, UnsupportedField } from '../../domain/llm/unsupported-field.ts'
import type { LlmItem, LlmRequest, LlmTool, ToolChoice } from '../../domain/ports/llm.ts'
import { type LlmSetting, type LlmSettings, lackingAllBut } from '../../domain/ports/llm-settings.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { type JsonObject } from '../wire/json.ts'
import { argumentsOf, systemOf, turnsOf } from '../wire/turns.ts'
import { type Traits, traitsOf } from './models.ts'

/**
 * Throws ProviderError: `unsupported` if this model does not support a field, `bad_request` if the conversation cannot
 * be converted.
 */
export function contentBody(request: LlmRequest): JsonObject {
  const traits = traitsOf(request.model)
  const system = systemOf(request.items)
  return {
    contents: contents(request.items, traits),
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    generationConfig: generationConfig(request, traits),
    // The vendor refuses a tool choice without tools.
    ...(request.tools.length > 0 && {
      tools: [{ functionDeclarations: request.tools.map(declaration) }],
      ...(request.toolChoice && { toolConfig: { functionCallingConfig: choice(request.toolChoice) } }),
    }),
  }
}

/**
 * Returns the request's path. `method` comes after the colon: `generateContent`, or `streamGenerateContent` for events.
 */
export function modelPath(model: string, method: 'generateContent' | 'streamGenerateContent'): string {
  const path = `/v1beta/models/${encodeURIComponent(model)}:${method}`
  // Without `alt=sse` the vendor streams one long JSON array instead of events.
  return method === 'streamGenerateContent' ? `${path}?alt=sse` : path
}

function refuse(field: RefusableField, reason: string): never {
  throw new ProviderError('unsupported', { sent: false, cause: new UnsupportedField(field, reason) })
}

type Part = { text?: string; functionCall?: object; functionResponse?: object; thoughtSignature?: string }

/**
 * The vendor's documented signature for function calls without a real signature, such as calls made by another vendor's
 * model.
 */
const unsigned = 'skip_thought_signature_validator'

function contents(items: readonly LlmItem[], traits: Traits): object[] {
  const names = new Map(items.flatMap((item) => (item.type === 'function_call' ? [[item.callId, item.name]] : [])))
  return turnsOf(items, (item) => part(item, names)).map(({ speaker, parts }) => {
    // If there are parallel function calls, only the first has a signature.
    const call = parts.find(({ functionCall }) => functionCall)
    if (call && traits.signsCalls) call.thoughtSignature = unsigned
    return { role: speaker, parts }
  })
}

function part(item: LlmItem, names: ReadonlyMap<string, string>): Part {
  switch (item.type) {
    case 'message':
      return { text: item.text }
    case 'function_call':
      return { functionCall: { id: item.callId, name: item.name, args: argumentsOf(item) } }
    case 'function_result': {
      const name = names.get(item.callId)
      if (name === undefined)
        throw new ProviderError('bad_request', { sent: false, cause: 'a result without its call' })
      return { functionResponse: { id: item.callId, name, response: { output: item.result } } }
    }
  }
}

function generationConfig(request: LlmRequest, { efforts }: Traits): JsonObject {
  const { temperature, topP, topK, stop, seed, frequencyPenalty, presencePenalty } = request
  const { reasoningEffort, responseFormat } = request
  const thinkingConfig =
    reasoningEffort === undefined ? null : (efforts[reasoningEffort] ?? refuse('reasoningEffort', 'the effort'))
  return {
    maxOutputTokens: request.maxOutputTokens,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(stop && { stopSequences: stop }),
    ...(seed !== undefined && { seed }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(thinkingConfig && { thinkingConfig }),
    ...(responseFormat && { responseMimeType: 'application/json', responseJsonSchema: responseFormat.schema }),
  }
}

const lackingSettings = lackingAllBut(
  'temperature',
  'topP',
  'topK',
  'stop',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
)
/** The vendor accepts at most this many stop sequences, and only a 32-bit seed. */
const stopsMax = 5

export function lacks(model: string, settings: LlmSettings): LlmSetting[] {
  const { stop = [], seed = 0 } = settings
  const beyond: LlmSetting[] = []
  if (stop.length > stopsMax) beyond.push('stop')
  if ((seed | 0) !== seed) beyond.push('seed')
  return [...lackingSettings(model, settings), ...beyond]
}

const declaration = ({ name, description, parameters }: LlmTool) => ({
  name,
  ...(description !== undefined && { description }),
  ...(parameters && { parametersJsonSchema: parameters }),
})

function choice(chosen: ToolChoice): object {
  if (typeof chosen === 'object') return { mode: 'ANY', allowedFunctionNames: [chosen.name] }
  return { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[chosen] }
}
