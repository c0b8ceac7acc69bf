/**
 * OpenAI's chat completions over the operation `generate`. A provider that speaks chat completions gets the client's
 * body untranslated. For any other provider the body is translated. If the model does not support a setting, the
 * setting is left out and named to the client. Content, tools and formats that the domain cannot express are refused by
 * name.
 */
import type { Route } from '../../../domain/dispatch/request.ts'
import { type AnswerReader, endedEarly } from '../../../domain/llm/answer-events.ts'
import type { GenerateInput, Translation } from '../../../domain/llm/generate.ts'
import { fewTokens } from '../../../domain/llm/tokens.ts'
import { argumentsText } from '../../../domain/llm/tool-arguments.ts'
import type {
  LlmAnswer,
  LlmEvent,
  LlmUsage,
  PassThroughAnswer,
  PassThroughPart,
  PassThroughRequest,
  PassThroughUsage,
  StopReason,
} from '../../../domain/ports/llm.ts'
import type { Clock } from '../../../domain/ports/system.ts'
import { modelName } from '../../../domain/routing/model-name.ts'
import { llmRequestOf, needsOf } from './chat-request.ts'
import { ignoredIn } from './chat-settings.ts'
import { chatSoFar, worstCaseOfChat } from './chat-tokens.ts'

export type ChatInput = GenerateInput & {
  /** The client's body. Its model, token limit and stream choice were read already and are not read again. */
  body: PassThroughRequest['body']
  maxOutputTokens?: number
}

/** The fields that we set in every completion and chunk. Choices and usage come from the provider. */
export type Identity = { id: string; created: number; model: string }
/** A whole response as chat completions write it, without the fields in Identity. */
export type ChatAnswer = { choices: readonly unknown[]; usage?: PassThroughUsage['raw'] }
export type CompletionChunk = Identity & ChatAnswer & { object: 'chat.completion.chunk' }

export function createChatTranslation(clock: Clock): Translation<ChatInput, ChatAnswer, CompletionChunk> {
  return {
    // A streamed request reaches at most one provider, because bytes sent to a provider cannot be taken back. An
    // attempt does not count if it failed before it sent a byte.
    streamSendsMax: 1,
    opening: [],
    emptyStream: 'protocol',
    needs: ({ body }) => needsOf(body),
    worstCase: worstCaseOfChat,
    mayBeEmpty,
    soFar: chatSoFar,
    requestOf: (model, input, llm) => llmRequestOf(requestOf(model, input), llm),
    ignored: (model, { body }, llm) => ignoredIn(body, model, llm),
    answerOf: translatedAnswer,
    reader: (input, route) => new EventReader(input, identityOf(input, route, clock)),
    passThrough: {
      portOf: ({ chat }) => chat,
      requestOf,
      answerOf: passedAnswer,
      reader: (input, route) => new PartReader(input, identityOf(input, route, clock)),
    },
  }
}

export function identityOf({ requestId }: ChatInput, { provider, model }: Route, clock: Clock): Identity {
  const created = Math.floor(clock.nowMs() / 1000)
  return { id: `chatcmpl-${requestId}`, created, model: modelName(provider, model) }
}

function mayBeEmpty({ body, maxOutputTokens }: ChatInput): boolean {
  const stop = body['stop']
  const hasStop = typeof stop === 'string' ? stop !== '' : Array.isArray(stop) && stop.length > 0
  return hasStop || (maxOutputTokens !== undefined && maxOutputTokens <= fewTokens)
}

function requestOf(model: string, { body, maxOutputTokens }: ChatInput): PassThroughRequest {
  return maxOutputTokens === undefined ? { model, body } : { model, body, maxOutputTokens }
}

function passedAnswer({ content: choices, usage }: PassThroughAnswer): ChatAnswer {
  return usage ? { choices, usage: usage.raw } : { choices }
}

export function translatedAnswer({ text, calls, stopReason, usage }: LlmAnswer): ChatAnswer {
  const toolCalls = calls.map((call) => ({ ...call, arguments: argumentsText(call.arguments) }))
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(callOf) }),
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishOf[stopReason] }]
  return { choices, usage: usageOf(usage) }
}

const finishOf: Record<StopReason, string> = { stop: 'stop', max_output_tokens: 'length', tool_call: 'tool_calls' }

function callOf({ callId, name, arguments: text }: LlmAnswer['calls'][number], index: number) {
  return { index, id: callId, type: 'function', function: { name, arguments: text } }
}

/**
 * Converts token counts. In chat completions, cached and reasoning tokens are part of the prompt and the completion.
 */
function usageOf({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens }: LlmUsage): PassThroughUsage['raw'] {
  const prompt = inputTokens + cachedInputTokens
  const completion = outputTokens + reasoningTokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}

/**
 * Reads chunks from a provider that speaks chat completions. The token usage is removed from the provider's chunks. If
 * the client requested the usage, it is sent as the last chunk.
 */
class PartReader implements AnswerReader<PassThroughPart, CompletionChunk> {
  readonly #input: ChatInput
  readonly #identity: Identity
  #usage: PassThroughUsage | null = null
  characters = 0

  constructor(input: ChatInput, identity: Identity) {
    this.#input = input
    this.#identity = identity
  }

  get usage(): LlmUsage | null {
    return this.#usage?.counts ?? null
  }

  read({ content, usage, characters }: PassThroughPart, ready: CompletionChunk[]): boolean {
    this.characters += characters
    this.#usage = usage ?? this.#usage
    if (content.length > 0) ready.push(chunkOf(this.#identity, content))
    return false
  }

  end(ready: CompletionChunk[]): void {
    if (this.#usage && asksForUsage(this.#input)) ready.push(usageChunk(this.#identity, this.#usage.raw))
  }
}

/** Turns the domain's LLM events into chunks, for providers with another protocol. */
class EventReader implements AnswerReader<LlmEvent, CompletionChunk> {
  readonly #input: ChatInput
  readonly #identity: Identity
  #begun = false
  /** Chunks made but not returned yet. */
  #ready: readonly CompletionChunk[] = []
  #characters = 0
  #charactersBefore = 0
  /** The indexes of tool calls without arguments so far. They get the arguments `{}` at the end. */
  readonly #bareCalls = new Set<number>()
  usage: LlmUsage | null = null

  constructor(input: ChatInput, identity: Identity) {
    this.#input = input
    this.#identity = identity
  }

  /**
   * The first event makes two chunks, and a client may leave between them. Then the client has not received the second
   * chunk, so its characters do not count.
   */
  get characters(): number {
    return this.#ready.length > 0 ? this.#charactersBefore : this.#characters
  }

  read(event: LlmEvent, ready: CompletionChunk[]): boolean {
    this.#ready = ready
    this.#charactersBefore = this.#characters
    if (event.type === 'end') {
      for (const index of this.#bareCalls) this.#push(ready, deltaOf({ type: 'arguments', index, delta: '{}' }))
      this.#push(ready, this.#begun ? {} : opening, finishOf[event.stopReason])
      this.usage = event.usage
      if (asksForUsage(this.#input)) ready.push(usageChunk(this.#identity, usageOf(event.usage)))
      return true
    }
    if (!this.#begun) this.#push(ready, opening)
    this.#begun = true
    this.#push(ready, deltaOf(event))
    if (event.type === 'call') this.#bareCalls.add(event.index)
    else if (event.type === 'arguments') this.#bareCalls.delete(event.index)
    if (event.type !== 'call') this.#characters += event.delta.length
    return false
  }

  end(): never {
    throw endedEarly()
  }

  #push(ready: CompletionChunk[], delta: object, finish: string | null = null): void {
    ready.push(chunkOf(this.#identity, [{ index: 0, delta, finish_reason: finish }]))
  }
}

const opening = { role: 'assistant', content: '' }

function deltaOf(event: Exclude<LlmEvent, { type: 'end' }>): object {
  switch (event.type) {
    case 'text':
      return { content: event.delta }
    case 'call':
      return { tool_calls: [callOf({ ...event, arguments: '' }, event.index)] }
    case 'arguments':
      return { tool_calls: [{ index: event.index, function: { arguments: event.delta } }] }
  }
}

function chunkOf({ id, created, model }: Identity, choices: readonly unknown[]): CompletionChunk {
  return { id, object: 'chat.completion.chunk', created, model, choices }
}

function usageChunk(identity: Identity, usage: PassThroughUsage['raw']): CompletionChunk {
  const chunk = chunkOf(identity, [])
  chunk.usage = usage
  return chunk
}

function asksForUsage({ body: { stream_options: options } }: ChatInput): boolean {
  return typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true
}
