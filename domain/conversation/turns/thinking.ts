/**
 * The LLM's answer to one user turn. Its words are spoken as they arrive. Tool calls run, and the LLM is asked again
 * with their results.
 *
 *   ask ─► words ─► speech
 *    ▲       └─► tool calls ─► results ─┐
 *    └──────── at most maxToolHops ─────┘
 */
import type { RequestContext, Route } from '../../dispatch/request.ts'
import type { ItemEvent } from '../../llm/answer-assembler.ts'
import type { ItemsInput } from '../../llm/items.ts'
import type { LlmItem, LlmUsage } from '../../ports/llm.ts'
import type { CancelSignal, Clock, Log } from '../../ports/system.ts'
import type { Trace } from '../../ports/trace.ts'
import type { TurnToolCall } from '../../records/call.ts'
import { Fault } from '../../records/fault.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Routing } from '../../routing/ask.ts'
import type { ConversationEvents } from '../parts/conversation-events.ts'
import type { ConversationDeps } from '../parts/deps.ts'
import { type FailoverRecord, recordRoute } from '../parts/failover-record.ts'
import type { History } from './history.ts'
import type { DoneCall, EndRequest, LlmToolCall, ToolCalls } from './tool-calls.ts'

export type ThinkingDeps = {
  clock: Clock
  log: Log
  generateItems: ConversationDeps['generateItems']
  request: (signal: CancelSignal, trace?: Trace | null) => RequestContext
  tools: ToolCalls
  record: FailoverRecord
  history: Pick<History, 'late'>
  events: Pick<ConversationEvents, 'activityChanged'>
}

export type ThinkingEvents = {
  say(delta: string): void
  /** Called when the words before the tool calls are complete. `calls` leaves out a call that ends the conversation. */
  toolsBegin(calls: readonly LlmToolCall[]): void
  /** Called once, when all tool calls in this LLM answer have results. */
  toolsDone(): void
  /** Called when the answer is complete. If `ending` is not null, the call ends after the answer. */
  done(ending: EndRequest | null): void
  /** Called when the answer has failed or broken off. */
  answerFailed(fault: Fault): void
}

export type ThinkingInput = {
  pipeline: Pipeline
  routing: Routing
  /** The conversation so far. */
  items: readonly LlmItem[]
  /** The trace context for the turn's span. Null if the turn is not traced. */
  trace: Trace | null
}

/** The result of one LLM request. A turn has several if the LLM calls tools. */
export type Hop = {
  text: string
  calls: DoneCall[]
  route: Route | null
  usage: LlmUsage | null
  costMicroUsd: number | null
  startedMs: number
  firstTokenMs: number | null
  endedMs: number
}

export class Thinking {
  readonly hops: Hop[] = []
  readonly #deps: ThinkingDeps
  readonly #pipeline: Pipeline
  readonly #routing: Routing
  readonly #items: readonly LlmItem[]
  readonly #trace: Trace | null
  readonly #events: ThinkingEvents
  readonly #abort = new AbortController()
  readonly #called: TurnToolCall[] = []
  #isDropped = false
  #allow: () => void = () => {}
  /** Resolves when the user's turn is certainly over. An answer that was begun early must not run tools before. */
  readonly #allowed: Promise<void>

  constructor(deps: ThinkingDeps, { pipeline, routing, items, trace }: ThinkingInput, events: ThinkingEvents) {
    this.#deps = deps
    this.#pipeline = pipeline
    this.#routing = routing
    this.#items = items
    this.#trace = trace
    this.#events = events
    this.#allowed = new Promise((resolve) => {
      this.#allow = resolve
    })
  }

  get firstTokenMs(): number | null {
    return this.hops.find(({ firstTokenMs }) => firstTokenMs !== null)?.firstTokenMs ?? null
  }

  get route(): Route | null {
    return this.hops.findLast(({ route }) => route !== null)?.route ?? null
  }

  /** Returns the turn's tool calls, including running calls. */
  get toolCalls(): readonly TurnToolCall[] {
    return this.#called
  }

  allow(): void {
    this.#allow()
  }

  /** Stops the answer. Running tools go on, and their results are added to the history. */
  drop(): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#abort.abort()
  }

  async run(): Promise<void> {
    try {
      for (let hop = 0; ; hop++) {
        const calls = await this.#ask(hop)
        if (this.#isDropped) return
        if (calls.length === 0) return this.#events.done(null)
        await this.#allowed
        if (this.#isDropped) return
        const ending = this.#deps.tools.endRequestIn(calls)
        if (ending !== null) return await this.#completeLast(ending, hop, calls)
        // Some models call tools even when `toolChoice` forbids it.
        if (hop >= this.#pipeline.maxToolHops) return this.#stopCalling()
        await this.#runTools(calls)
        if (this.#isDropped) return
      }
    } catch (thrown) {
      if (this.#isDropped) return
      if (!(thrown instanceof Fault)) this.#deps.log.error({ err: thrown }, 'the answer of a session failed')
      this.#events.answerFailed(thrown instanceof Fault ? thrown : new Fault({ kind: 'internal' }, { cause: thrown }))
    }
  }

  /** Completes an answer that ends the call. Other tools in the same answer run first. */
  async #completeLast(ending: EndRequest, hop: number, calls: readonly LlmToolCall[]): Promise<void> {
    const mayRunOthers = hop < this.#pipeline.maxToolHops
    await this.#runTools(mayRunOthers ? calls : calls.filter((call) => this.#deps.tools.isEndRequest(call)))
    if (!this.#isDropped && this.#lacksGoodbye(ending)) await this.#sayGoodbye()
    if (!this.#isDropped) this.#events.done(ending)
  }

  /** Returns true if the call would end without a word from the agent. */
  #lacksGoodbye({ message }: EndRequest): boolean {
    const hasWords = this.hops.some(({ text }) => text.trim() !== '')
    return !hasWords && message === null && this.#pipeline.endCallMessage === null
  }

  /** Asks the LLM for a goodbye. If the LLM fails, the call ends without a goodbye. */
  async #sayGoodbye(): Promise<void> {
    try {
      await this.#askOnce(this.#pipeline.maxToolHops)
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown
    }
  }

  /** Ends the answer without the requested tool calls, with the words so far. A turn without any words has failed. */
  #stopCalling(): void {
    if (this.hops.some(({ text }) => text.trim() !== '')) return this.#events.done(null)
    this.#events.answerFailed(new Fault({ kind: 'all_failed' }))
  }

  /** Asks the LLM. Retries once if the request fails before its first word. */
  async #ask(hop: number): Promise<LlmToolCall[]> {
    try {
      return await this.#askOnce(hop)
    } catch (thrown) {
      const words = this.hops.at(-1)?.text ?? ''
      if (this.#isDropped || !(thrown instanceof Fault) || words !== '' || !this.#mayAskAgain(thrown)) throw thrown
      this.hops.pop()
      return this.#askOnce(hop)
    }
  }

  #mayAskAgain({ data }: Fault): boolean {
    if (data.kind === 'capability_missing' && data.capability === 'tools') return this.#deps.tools.withhold()
    return data.kind === 'stream_broken' || data.kind === 'timed_out'
  }

  async #askOnce(hop: number): Promise<LlmToolCall[]> {
    const { clock, generateItems } = this.#deps
    const entry: Hop = {
      text: '',
      calls: [],
      route: null,
      usage: null,
      costMicroUsd: null,
      startedMs: clock.monotonicMs(),
      firstTokenMs: null,
      endedMs: clock.monotonicMs(),
    }
    const input = this.#input(hop)
    this.hops.push(entry)
    const { route, events } = await generateItems.stream(input)
    entry.route = route
    if (this.#isDropped) return this.#leave(events)
    recordRoute(this.#deps.record, 'llm', null, route)
    const calls: LlmToolCall[] = []
    for await (const event of events) {
      if (this.#isDropped) return []
      this.#read(event, entry, calls)
    }
    entry.endedMs = clock.monotonicMs()
    return calls
  }

  async #leave(events: AsyncIterable<ItemEvent>): Promise<LlmToolCall[]> {
    await events[Symbol.asyncIterator]().return?.()
    return []
  }

  #read(event: ItemEvent, entry: Hop, calls: LlmToolCall[]): void {
    if (event.type === 'itemAdded') entry.firstTokenMs ??= this.#deps.clock.monotonicMs()
    if (event.type === 'textDelta') {
      entry.text += event.delta
      this.#events.say(event.delta)
    } else if (event.type === 'itemCompleted' && event.item.type === 'function_call') {
      const { callId, name, arguments: args } = event.item
      calls.push({ callId, name, arguments: args })
    } else if (event.type === 'completed') {
      entry.usage = event.usage
      entry.costMicroUsd = event.costMicroUsd
    }
  }

  #input(hop: number): ItemsInput {
    const { llm, intent, maxToolHops } = this.#pipeline
    return {
      ...this.#deps.request(this.#abort.signal, this.#trace),
      routing: this.#routing,
      language: intent.language,
      request: {
        items: [...this.#items, ...this.hops.flatMap(({ text, calls }) => itemsOf(text, calls))],
        maxOutputTokens: llm.maxTokens,
        language: intent.language,
        tools: this.#deps.tools.offered,
        // After the last allowed tool calls the LLM must answer in words.
        ...(hop >= maxToolHops && this.#deps.tools.offered.length > 0 && { toolChoice: 'none' as const }),
        ...(llm.temperature !== null && { temperature: llm.temperature }),
        ...(llm.reasoningEffort !== null && { reasoningEffort: llm.reasoningEffort }),
      },
    }
  }

  async #runTools(calls: readonly LlmToolCall[]): Promise<void> {
    const entry = this.hops.at(-1)
    const under = calls.map(({ callId, name, arguments: args }): TurnToolCall => {
      return { id: callId, name, args, status: 'started' }
    })
    this.#called.push(...under)
    this.#events.toolsBegin(calls.filter((call) => !this.#deps.tools.isEndRequest(call)))
    await this.#deps.tools.run(
      calls,
      (done) => {
        const call = under.find(({ id }) => id === done.call.id)
        if (call) Object.assign(call, done.call)
        if (this.#isDropped) return this.#addLate(done)
        entry?.calls.push(done)
      },
      this.#trace,
    )
    if (!this.#isDropped) this.#events.toolsDone()
  }

  /** Adds a tool call that ended after the answer was dropped. */
  #addLate(done: DoneCall): void {
    this.#deps.history.late(itemsOf('', [done]))
    this.#deps.events.activityChanged()
  }
}

/** Returns the answer's words as items, then its tool calls with their results. */
export function itemsOf(text: string, calls: readonly DoneCall[]): LlmItem[] {
  const items: LlmItem[] = []
  if (text.trim() !== '') items.push({ type: 'message', role: 'assistant', text: text.trim() })
  for (const { call } of calls)
    items.push({ type: 'function_call', callId: call.id, name: call.name, arguments: call.args })
  for (const { item } of calls) items.push(item)
  return items
}
