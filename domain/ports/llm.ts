import type { LlmSetting, LlmSettings } from './llm-settings.ts'
import type { CancelSignal } from './system.ts'

export type LlmItem =
  | {
      type: 'message'
      role: 'system' | 'user' | 'assistant'
      text: string
      /** True if the text tells about a conversation, such as "The caller is on hold", and is no instruction. */
      isNote?: true
    }
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
  /**
   * The conversation's language, for an LLM with fixed rules (the scripted LLM). Any other model learns the language
   * from its prompt.
   */
  language?: string
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
 * `call` begins a function call. `index` counts the answer's function calls from 0. The `arguments` of this function
 * call follow. `end` comes exactly once, as the last event.
 */
export type LlmEvent =
  | { type: 'text'; delta: string }
  | { type: 'call'; index: number; callId: string; name: string }
  | { type: 'arguments'; index: number; delta: string }
  | { type: 'end'; stopReason: StopReason; usage: LlmUsage }

/**
 * A request in a protocol that client and provider share. The client's body goes to the provider and the provider's
 * answer goes to the client. The server reads only the token counts for billing.
 */
export type PassThroughRequest = {
  model: string
  /** The client's body. The adapter replaces its model, its token limit and its streaming choice. */
  body: Readonly<Record<string, unknown>>
  /** The adapter sends the limit in the field expected by the provider. */
  maxOutputTokens?: number
}

/** `raw` contains the counts as the provider sent them, in the shared protocol's form. */
export type PassThroughUsage = { raw: Readonly<Record<string, unknown>>; counts: LlmUsage }
/** `content` is unchanged from the provider. `usage` is null if the provider does not report token counts. */
export type PassThroughAnswer = { content: readonly unknown[]; usage: PassThroughUsage | null }
/**
 * One stream item. `characters` counts the item's text and arguments. If an item only reports token counts, `content`
 * is empty.
 */
export type PassThroughPart = { content: readonly unknown[]; usage: PassThroughUsage | null; characters: number }

export interface Llm {
  /** Rejects with ProviderError. */
  respond(request: LlmRequest, signal: CancelSignal): Promise<LlmAnswer>
  /**
   * Streams the answer. The iteration rejects with ProviderError if the provider breaks off, and also if the stream
   * ends without the provider's end marker. Deltas are never empty.
   */
  stream(request: LlmRequest, signal: CancelSignal): AsyncIterable<LlmEvent>
  /**
   * Returns the names of the settings that this model does not accept. If the API's contract permits it, the request is
   * sent without these settings, and the answer lists them. If absent, the model accepts only `temperature` and `topP`.
   */
  readonly lacks?: (model: string, settings: LlmSettings) => readonly LlmSetting[]
  /** Present if the provider speaks the chat completions protocol. For other providers such a request is translated. */
  readonly chat?: PassThrough
}

export interface PassThrough {
  /** Rejects with ProviderError. Its class is `empty` if the answer has no content. */
  complete(request: PassThroughRequest, signal: CancelSignal): Promise<PassThroughAnswer>
  /**
   * Streams the answer. The first part has content, because the adapter delays earlier items without content. The
   * iteration ends only if the answer is complete; otherwise it rejects with ProviderError.
   */
  stream(request: PassThroughRequest, signal: CancelSignal): AsyncIterable<PassThroughPart>
}
