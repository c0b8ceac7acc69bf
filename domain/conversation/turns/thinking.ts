/**
 * The answer of the LLM to one turn of the user: its words go to the speech as they come, its tool calls run, and it is
 * asked again with their results.
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
import type { ConversationDeps } from '../parts/deps.ts'
import { type FailoverRecord, recordRoute } from '../parts/failover-record.ts'
import type { AskedCall, DoneCall, EndCall, ToolCalls } from './tool-calls.ts'

export type ThinkingDeps = {
  clock: Clock
  log: Log
  generateItems: ConversationDeps['generateItems']
  request: (signal: CancelSignal, trace?: Trace | null) => RequestContext
  tools: ToolCalls
  record: FailoverRecord
}

export type ThinkingEvents = {
  say(delta: string): void
  /** The words before tool calls are complete. A call that ends the conversation is not among `calls`. */
  toolsBegin(calls: readonly AskedCall[]): void
  /** All tool calls of this hop have results. */
  toolsDone(): void
  /** The answer is complete. `endCall`: it ends the call. */
  done(endCall: EndCall | null): void
  /** There is no answer, or no more of it. */
  failed(fault: Fault): void
  /** A tool ended after the answer was dropped. */
  lateTool(done: DoneCall): void
}

export type ThinkingInput = {
  pipeline: Pipeline
  routing: Routing
  history: readonly LlmItem[]
  /** The place of the turn. Null: nobody traces it. */
  trace: Trace | null
}

/** The result of one request to the LLM. */
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
  readonly #history: readonly LlmItem[]
  readonly #trace: Trace | null
  readonly #events: ThinkingEvents
  readonly #abort = new AbortController()
  readonly #called: TurnToolCall[] = []
  #isDropped = false
  #allow: () => void = () => {}
  /** Resolves when the turn of the user is really over: tools must not run for a guess. */
  readonly #allowed: Promise<void>

  constructor(deps: ThinkingDeps, { pipeline, routing, history, trace }: ThinkingInput, events: ThinkingEvents) {
    this.#deps = deps
    this.#pipeline = pipeline
    this.#routing = routing
    this.#history = history
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

  /** With those that are still under way. */
  get toolCalls(): readonly TurnToolCall[] {
    return this.#called
  }

  allow(): void {
    this.#allow()
  }

  /** Tools that run go on; their results come as `lateTool`. */
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
        const endCall = this.#endCallOf(calls)
        if (endCall !== null) return await this.#endCall(endCall, hop, calls)
        // Some models call tools all the same when they must not.
        if (hop >= this.#pipeline.maxToolHops) return this.#stopCalling()
        await this.#runTools(calls)
        if (this.#isDropped) return
      }
    } catch (thrown) {
      if (this.#isDropped) return
      if (!(thrown instanceof Fault)) this.#deps.log.error({ err: thrown }, 'the answer of a session failed')
      this.#events.failed(thrown instanceof Fault ? thrown : new Fault({ kind: 'internal' }, { cause: thrown }))
    }
  }

  #endCallOf(calls: readonly AskedCall[]): EndCall | null {
    for (const call of calls) {
      const endCall = this.#deps.tools.endCallOf(call)
      if (endCall !== null) return endCall
    }
    return null
  }

  /** Other tools that were called in the same answer run first. */
  async #endCall(endCall: EndCall, hop: number, calls: readonly AskedCall[]): Promise<void> {
    const mayRunOthers = hop < this.#pipeline.maxToolHops
    await this.#runTools(mayRunOthers ? calls : calls.filter((call) => this.#deps.tools.endCallOf(call) !== null))
    if (!this.#isDropped && this.#lacksGoodbye(endCall)) await this.#sayGoodbye()
    if (!this.#isDropped) this.#events.done(endCall)
  }

  /** The caller would hear the line go dead without a word. */
  #lacksGoodbye({ message }: EndCall): boolean {
    const hasWords = this.hops.some(({ text }) => text.trim() !== '')
    return !hasWords && message === null && this.#pipeline.endCallMessage === null
  }

  /** The call ends without one if the LLM does not answer. */
  async #sayGoodbye(): Promise<void> {
    try {
      await this.#askOnce(this.#pipeline.maxToolHops)
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown
    }
  }

  /** The answer is what was said until now. A turn without any words has failed. */
  #stopCalling(): void {
    if (this.hops.some(({ text }) => text.trim() !== '')) return this.#events.done(null)
    this.#events.failed(new Fault({ kind: 'all_failed' }))
  }

  /** Asks again once, as long as no word has come. */
  async #ask(hop: number): Promise<AskedCall[]> {
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

  async #askOnce(hop: number): Promise<AskedCall[]> {
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
    const calls: AskedCall[] = []
    for await (const event of events) {
      if (this.#isDropped) return []
      this.#read(event, entry, calls)
    }
    entry.endedMs = clock.monotonicMs()
    return calls
  }

  async #leave(events: AsyncIterable<ItemEvent>): Promise<AskedCall[]> {
    await events[Symbol.asyncIterator]().return?.()
    return []
  }

  #read(event: ItemEvent, entry: Hop, calls: AskedCall[]): void {
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
        items: [...this.#history, ...this.hops.flatMap(({ text, calls }) => itemsOf(text, calls))],
        maxOutputTokens: llm.maxTokens,
        tools: this.#deps.tools.offered,
        // It must answer in words now.
        ...(hop >= maxToolHops && this.#deps.tools.offered.length > 0 && { toolChoice: 'none' as const }),
        ...(llm.temperature !== null && { temperature: llm.temperature }),
        ...(llm.reasoningEffort !== null && { reasoningEffort: llm.reasoningEffort }),
      },
    }
  }

  async #runTools(calls: readonly AskedCall[]): Promise<void> {
    const entry = this.hops.at(-1)
    const under = calls.map(({ callId, name, arguments: args }): TurnToolCall => {
      return { id: callId, name, args, status: 'started' }
    })
    this.#called.push(...under)
    this.#events.toolsBegin(calls.filter((call) => this.#deps.tools.endCallOf(call) === null))
    await this.#deps.tools.run(
      calls,
      (done) => {
        const call = under.find(({ id }) => id === done.call.id)
        if (call) call.status = done.call.status
        if (this.#isDropped) return this.#events.lateTool(done)
        entry?.calls.push(done)
      },
      this.#trace,
    )
    if (!this.#isDropped) this.#events.toolsDone()
  }
}

/** The words of an answer, then its tool calls and their results. */
export function itemsOf(text: string, calls: readonly DoneCall[]): LlmItem[] {
  const items: LlmItem[] = []
  if (text.trim() !== '') items.push({ type: 'message', role: 'assistant', text: text.trim() })
  for (const { call } of calls)
    items.push({ type: 'function_call', callId: call.id, name: call.name, arguments: call.args })
  for (const { item } of calls) items.push(item)
  return items
}
