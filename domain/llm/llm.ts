import type { CancelSignal } from '../ports/system.ts'

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

/** A request in the words of the chat-completions protocol, as far as the router leaves it alone. */
export type ChatRequest = {
  model: string
  /** As the client sent it. `model`, `stream` and the limit on tokens in it have been read and are not for the provider; what is not known here is the provider's to understand. */
  body: Readonly<Record<string, unknown>>
  /** Sent in the one spelling that the provider expects. */
  maxTokens?: number
}

/** `wire` is in the protocol's own shape. */
export type ChatUsage = { wire: Readonly<Record<string, unknown>>; counts: LlmUsage }
/** `choices` are the protocol's, untouched. `usage` is null where the provider does not count. */
export type ChatAnswer = { choices: readonly unknown[]; usage: ChatUsage | null }
/** One chunk; `characters` of text and arguments in it. A chunk that only counts has no choices. */
export type ChatPart = { choices: readonly unknown[]; usage: ChatUsage | null; characters: number }

export interface Llm {
  /** Rejects with ProviderError. */
  respond(request: LlmRequest, signal: CancelSignal): Promise<LlmAnswer>
  /** The iteration rejects with ProviderError when the provider breaks off, also when it ends without its own terminal mark. Deltas are never empty. */
  stream(request: LlmRequest, signal: CancelSignal): AsyncIterable<LlmEvent>
  /** Present where the provider speaks chat completions itself; requests of that protocol to any other are translated. */
  readonly chat?: ChatPort
}

export interface ChatPort {
  /** Rejects with ProviderError, `empty` for an answer that says nothing. */
  complete(request: ChatRequest, signal: CancelSignal): Promise<ChatAnswer>
  /** Nothing comes before the first content has: a bare role is held back. The iteration ends only when every choice has its finish_reason, else it rejects with ProviderError. */
  stream(request: ChatRequest, signal: CancelSignal): AsyncIterable<ChatPart>
}
