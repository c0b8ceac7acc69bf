import type { Departure } from '../ports.ts'

export type LlmItem =
  | { type: 'message'; role: 'system' | 'user' | 'assistant'; text: string }
  | { type: 'function_call'; callId: string; name: string; arguments: string }
  | { type: 'function_result'; callId: string; result: string }

export type LlmTool = { name: string; description?: string; parameters?: Readonly<Record<string, unknown>> }
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }
export type ResponseFormat = { name: string; schema: Readonly<Record<string, unknown>>; strict?: boolean }

export type LlmRequest = {
  model: string
  items: readonly LlmItem[]
  maxOutputTokens: number
  tools: readonly LlmTool[]
  toolChoice?: ToolChoice
  responseFormat?: ResponseFormat
  temperature?: number
  topP?: number
  reasoningEffort?: string
}

/** The splits exclude one another: cached is not in input, reasoning is not in output. */
export type LlmUsage = { inputTokens: number; cachedInputTokens: number; outputTokens: number; reasoningTokens: number }
export type StopReason = 'stop' | 'max_output_tokens' | 'tool_call'

export type LlmAnswer = {
  text: string
  calls: { callId: string; name: string; arguments: string }[]
  stopReason: StopReason
  usage: LlmUsage
}

/** `call` opens a function call at `index` (counted among calls, from 0); its `arguments` follow. `end` is last, exactly once. */
export type LlmEvent =
  | { type: 'text'; delta: string }
  | { type: 'call'; index: number; callId: string; name: string }
  | { type: 'arguments'; index: number; delta: string }
  | { type: 'end'; stopReason: StopReason; usage: LlmUsage }

export interface Llm {
  /** Rejects with ProviderError. */
  respond(request: LlmRequest, signal: Departure): Promise<LlmAnswer>
  /** The iteration rejects with ProviderError when the provider breaks off, also when it ends without its own terminal mark. Deltas are never empty. */
  stream(request: LlmRequest, signal: Departure): AsyncIterable<LlmEvent>
}
