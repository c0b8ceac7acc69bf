import type { LlmSetting, LlmSettings } from './llm-settings.ts'
import type { CancelSignal } from './system.ts'

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
  reasoningEffort?: string
} & LlmSettings

/** No token is counted twice: input excludes cached tokens, output excludes reasoning tokens. */
export type LlmUsage = { inputTokens: number; cachedInputTokens: number; outputTokens: number; reasoningTokens: number }
export type StopReason = 'stop' | 'max_output_tokens' | 'tool_call'

export type LlmAnswer = {
  text: string
  calls: { callId: string; name: string; arguments: string }[]
  stopReason: StopReason
  usage: LlmUsage
}

/**
 * `call` opens a function call at `index` (counted among calls, from 0); its `arguments` follow. `end` comes exactly
 * once, as the last event.
 */
export type LlmEvent =
  | { type: 'text'; delta: string }
  | { type: 'call'; index: number; callId: string; name: string }
  | { type: 'arguments'; index: number; delta: string }
  | { type: 'end'; stopReason: StopReason; usage: LlmUsage }

/**
 * A request in a protocol shared by client and provider. The provider gets the client's body and the client gets the
 * provider's answer. Nothing in between reads them, except for the billed counts.
 */
export type PassThroughRequest = {
  model: string
  /** The client's body. The adapter replaces its model, its token limit and its streaming choice. */
  body: Readonly<Record<string, unknown>>
  /** The adapter writes the limit under the field name expected by the provider. */
  maxOutputTokens?: number
}

/** `raw` is in the protocol's shape. */
export type PassThroughUsage = { raw: Readonly<Record<string, unknown>>; counts: LlmUsage }
/** `content` is the provider's, untouched. `usage` is null if the provider does not count. */
export type PassThroughAnswer = { content: readonly unknown[]; usage: PassThroughUsage | null }
/** One stream item. `characters` counts its text and arguments. If an item only counts tokens, it has no content. */
export type PassThroughPart = { content: readonly unknown[]; usage: PassThroughUsage | null; characters: number }

export interface Llm {
  /** Rejects with ProviderError. */
  respond(request: LlmRequest, signal: CancelSignal): Promise<LlmAnswer>
  /**
   * The iteration rejects with ProviderError if the provider breaks off, and also if the stream ends without the
   * provider's terminal mark. Deltas are never empty.
   */
  stream(request: LlmRequest, signal: CancelSignal): AsyncIterable<LlmEvent>
  /**
   * Names the settings this model cannot take. If a wire promises less than the router, such settings are left out and
   * named. If absent, the model takes only temperature and topP.
   */
  readonly lacks?: (model: string, settings: LlmSettings) => readonly LlmSetting[]
  /** Present if the provider itself speaks chat completions. For any other provider such a request is translated. */
  readonly chat?: PassThrough
}

export interface PassThrough {
  /** Rejects with ProviderError; the class is `empty` if the answer has no content. */
  complete(request: PassThroughRequest, signal: CancelSignal): Promise<PassThroughAnswer>
  /**
   * The first part has content: the adapter holds back items without content until then. The iteration ends only if the
   * answer is complete; otherwise it rejects with ProviderError.
   */
  stream(request: PassThroughRequest, signal: CancelSignal): AsyncIterable<PassThroughPart>
}
