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
 * `call` opens a function call at `index` (counted among calls, from 0); its `arguments` follow. `end` is last, exactly
 * once.
 */
export type LlmEvent =
  | { type: 'text'; delta: string }
  | { type: 'call'; index: number; callId: string; name: string }
  | { type: 'arguments'; index: number; delta: string }
  | { type: 'end'; stopReason: StopReason; usage: LlmUsage }

/**
 * A request in a protocol that the client and the provider both speak. The provider gets the client's body and the
 * client the provider's answer; nothing between them reads either, except the counts that are billed.
 */
export type PassThroughRequest = {
  model: string
  /** The body of the client. The adapter replaces the model, the limit on tokens and the choice of a stream in it. */
  body: Readonly<Record<string, unknown>>
  /** The provider's adapter writes it in the one spelling that the provider expects. */
  maxOutputTokens?: number
}

/** `raw` is in the protocol's shape. */
export type PassThroughUsage = { raw: Readonly<Record<string, unknown>>; counts: LlmUsage }
/** `content` is the provider's, untouched. `usage` is null where the provider does not count. */
export type PassThroughAnswer = { content: readonly unknown[]; usage: PassThroughUsage | null }
/** One item of a stream; `characters` counts text and arguments in it. An item that only counts has no content. */
export type PassThroughPart = { content: readonly unknown[]; usage: PassThroughUsage | null; characters: number }

export interface Llm {
  /** Rejects with ProviderError. */
  respond(request: LlmRequest, signal: CancelSignal): Promise<LlmAnswer>
  /**
   * The iteration rejects with ProviderError when the provider breaks off, also when it ends without its own terminal
   * mark. Deltas are never empty.
   */
  stream(request: LlmRequest, signal: CancelSignal): AsyncIterable<LlmEvent>
  /**
   * The settings among these that this model cannot take. A wire that promises less than the router leaves them out and
   * names them. Absent: it takes temperature and topP, and no others.
   */
  readonly lacks?: (model: string, settings: LlmSettings) => readonly LlmSetting[]
  /** Present where the provider speaks chat completions itself. For any other provider such a request is translated. */
  readonly chat?: PassThrough
}

export interface PassThrough {
  /** Rejects with ProviderError, `empty` for an answer without content. */
  complete(request: PassThroughRequest, signal: CancelSignal): Promise<PassThroughAnswer>
  /**
   * Nothing comes before the first content: the adapter holds items without content back until then. The iteration ends
   * only when the answer is complete, else it rejects with ProviderError.
   */
  stream(request: PassThroughRequest, signal: CancelSignal): AsyncIterable<PassThroughPart>
}
