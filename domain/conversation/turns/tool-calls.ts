/** Runs the tool calls in one LLM answer, and formats their results for the LLM. */
import { digitsName, keysOf } from '../../agents/press-keys.ts'
import { daysAheadDefault, numberOfPerson, readCallbackRequest } from '../../callbacks/callback-request.ts'
import { argumentsText } from '../../llm/tool-arguments.ts'
import type { LlmItem, LlmTool } from '../../ports/llm.ts'
import type { SessionEvent } from '../../ports/media.ts'
import type { Clock } from '../../ports/system.ts'
import type { Trace } from '../../ports/trace.ts'
import type { Call, EventType, TurnToolCall } from '../../records/call.ts'
import type { CallbackRequest } from '../../records/callback.ts'
import type { PipelineTool } from '../../records/pipeline.ts'
import type { BuiltinSource } from '../../records/tool.ts'
import { charactersOf } from '../../speech/characters.ts'
import type { RunTool, ToolFailure, ToolResult } from '../parts/deps.ts'
import { recordTool } from './tool-trace.ts'

export const toolCallsAtOnce = 8
export const toolResultCharactersMax = 16_384
const defaultTimeoutMs = 10_000
/** If checking arguments took this long, the event loop serves other sessions before the next check. */
const longCheckMs = 10
const defaultAck = 'Accepted.'
const endCallName = 'end_call'
/**
 * The result of `end_call` for the LLM. It is read when the LLM is asked for a goodbye, or after the caller has
 * interrupted the goodbye.
 */
const endsLater = 'The call ends after your last words, unless the caller interrupts them.'

export type LlmToolCall = { callId: string; name: string; arguments: string }

export type ToolDeps = {
  clock: Clock
  call: Call
  runTool: RunTool
  notify: (event: SessionEvent) => void
  event: (type: EventType, payload: Record<string, unknown>) => void
  /** Schedules the callback that the agent promised to the caller. */
  scheduleCallback: (callback: CallbackRequest) => void
  /** Presses keys on the caller's phone. Rejects if the carrier cannot send keys. Null in a session without a phone. */
  pressKeys: ((digits: string) => Promise<void>) | null
}

/** A finished tool call, with its result for the LLM. */
export type DoneCall = { call: TurnToolCall; item: LlmItem; startedMs: number; endedMs: number }
/** The LLM's request to end the call. If `message` is not null, the agent says it first. */
export type EndRequest = { message: string | null }

export class ToolCalls {
  readonly #deps: ToolDeps
  readonly #tools: Map<string, PipelineTool>
  /** The calls that wait for a result from the session's browser page, by call id. */
  readonly #waiting = new Map<string, (result: ToolResult) => void>()
  #underWay = 0
  /** Resolves when the next argument check may begin. */
  #mayCheck: Promise<void> = Promise.resolve()

  constructor(deps: ToolDeps) {
    this.#deps = deps
    this.#tools = toolsOf(deps.call, deps.pressKeys !== null)
  }

  /** Returns the tools for the LLM. */
  get offered(): LlmTool[] {
    return [...this.#tools.values()].map(({ name, description, parameters }) => ({ name, description, parameters }))
  }

  /**
   * Call this if no allowed model can call tools. If the agent has no configured tools, this removes `end_call` and
   * returns true, so the session goes on without it.
   */
  withhold(): boolean {
    if (this.#deps.call.pipeline.tools.length > 0 || this.#tools.size === 0) return false
    this.#tools.clear()
    return true
  }

  /** Returns true while a tool runs. The session's silence does not count then. */
  get isBusy(): boolean {
    return this.#underWay > 0
  }

  find(name: string): PipelineTool | null {
    return this.#tools.get(name) ?? null
  }

  /** Returns true if this tool call asks to end the call. */
  isEndRequest({ name }: LlmToolCall): boolean {
    const tool = this.find(name)
    return tool?.source.kind === 'builtin' && tool.source.name === 'end_call'
  }

  /** Returns the first request to end the call, or null. */
  endRequestIn(calls: readonly LlmToolCall[]): EndRequest | null {
    const call = calls.find((call) => this.isEndRequest(call))
    if (call === undefined) return null
    const args = parsed(call.arguments)
    const message = typeof args === 'object' && args !== null ? (args as { message?: unknown }).message : null
    return {
      message: typeof message === 'string' && message.trim() !== '' ? [...message].slice(0, 500).join('') : null,
    }
  }

  /**
   * Runs the calls, at most `toolCallsAtOnce` at a time. `done` is called when a call ends. `trace` is the trace
   * context for the turn's span.
   */
  async run(calls: readonly LlmToolCall[], done: (done: DoneCall) => void, trace: Trace | null = null): Promise<void> {
    const queue = [...calls]
    const next = async (): Promise<void> => {
      for (let call = queue.shift(); call !== undefined; call = queue.shift())
        done(await this.#runOne(call, trace?.below() ?? null))
    }
    await Promise.all(calls.slice(0, toolCallsAtOnce).map(next))
  }

  /** Accepts the browser page's result for a call. Returns false if no call with this id waits for a result. */
  result(id: string, result: string, isError: boolean): boolean {
    const settle = this.#waiting.get(id)
    this.#waiting.delete(id)
    settle?.(isError ? { failure: { code: 'failed', detail: cut(result) } } : { result })
    return settle !== undefined
  }

  async #runOne(call: LlmToolCall, trace: Trace | null): Promise<DoneCall> {
    const { clock, notify, event } = this.#deps
    const [startedMs, startedAtMs] = [clock.monotonicMs(), clock.nowMs()]
    const head = { id: call.callId, name: call.name }
    event('agent.tool_started', { name: call.name })
    notify({ type: 'toolCall', ...head, status: 'started' })
    this.#underWay += 1
    const result = await this.#resultOf(call, trace)
    this.#underWay -= 1
    const endedMs = clock.monotonicMs()
    const failure = 'failure' in result ? result.failure : null
    const status = failure === null ? 'completed' : 'failed'
    recordTool(trace, this.#deps.call, { name: call.name, startedMs, endedMs, failure: failure?.code })
    const ms = Math.round(endedMs - startedMs)
    event(`agent.tool_${status}`, { name: call.name, ms, ...(failure && { code: failure.code }) })
    notify({ type: 'toolCall', ...head, status })
    const text = 'failure' in result ? JSON.stringify({ error: result.failure }) : cut(result.result) || 'ok'
    const item = { type: 'function_result' as const, callId: call.callId, result: text }
    const { httpStatus, attempts } = result
    const facts = {
      ...{ startedAtMs, durationMs: ms, result: text.slice(0, toolResultCharactersMax) },
      ...(httpStatus !== undefined && { httpStatus }),
      ...(attempts !== undefined && { attempts }),
    }
    return { call: { ...head, args: call.arguments, status, ...facts }, item, startedMs, endedMs }
  }

  async #resultOf(call: LlmToolCall, trace: Trace | null): Promise<ToolResult> {
    const tool = this.find(call.name)
    if (tool === null) return failed({ code: 'not_allowed' })
    const args = parsed(call.arguments)
    if (args === undefined) return failed({ code: 'invalid_arguments', detail: 'the arguments are not JSON' })
    const faults = await this.#check(tool, args)
    if (faults.length > 0) return failed({ code: 'invalid_arguments', detail: faults.join(', ') })
    const { source } = tool
    if (source.kind === 'builtin') return this.#runBuiltin(source, args)
    if (source.kind === 'inline') return this.#runInPage(call, source.timeoutMs ?? defaultTimeoutMs)
    const running = this.#deps.runTool.webhook(this.#deps.call, { callId: call.callId, tool, args, trace })
    return source.responseMode === 'async' ? { result: source.asyncAck ?? defaultAck } : running
  }

  async #pressKeys(args: unknown): Promise<ToolResult> {
    const digits = keysOf(args)
    if (digits === null)
      return failed({
        code: 'invalid_arguments',
        detail: `/${digitsName} must be 1 to 32 keys: 0 to 9, *, #, A to D, w`,
      })
    try {
      await this.#deps.pressKeys?.(digits)
      return { result: 'ok' }
    } catch {
      // The code that presses the keys has logged the reason.
      return failed({ code: 'failed' })
    }
  }

  #runBuiltin({ name, config }: BuiltinSource, args: unknown): ToolResult | Promise<ToolResult> {
    switch (name) {
      case 'end_call':
        return { result: endsLater }
      case 'send_dtmf':
        return this.#pressKeys(args)
      case 'schedule_callback':
        return this.#scheduleCallback(config, args)
      case 'transfer_call': {
        const label = typeof args === 'object' && args !== null ? (args as { label?: unknown }).label : null
        return this.#deps.runTool.transfer(this.#deps.call, { config: config ?? {}, label })
      }
    }
  }

  #scheduleCallback(config: BuiltinSource['config'], args: unknown): ToolResult {
    const { call, clock, runTool, scheduleCallback } = this.#deps
    const nowMs = clock.nowMs()
    const maxDaysAhead = config?.maxDaysAhead ?? daysAheadDefault
    const isPhoneNumber = (text: string) => runTool.isPhoneNumber(text)
    const read = readCallbackRequest(args, { nowMs, maxDaysAhead, defaultTo: numberOfPerson(call), isPhoneNumber })
    if ('wrong' in read)
      return failed({
        code: 'invalid_arguments',
        detail: read.wrong.map((name) => `/${name} is missing or malformed`).join(', '),
      })
    if ('notAllowed' in read) return failed({ code: 'not_allowed', detail: read.notAllowed })
    scheduleCallback(read.request)
    // The result contains no phone number, even if the LLM's arguments contained it.
    const scheduledAt = new Date(read.request.scheduledAtMs).toISOString()
    return { result: JSON.stringify({ status: 'scheduled', scheduled_at: scheduledAt }) }
  }

  /**
   * Checks arguments against a tool's schema. One check runs at a time, because an answer may contain many calls, and a
   * hostile schema takes up to 50 ms per check.
   */
  async #check(tool: PipelineTool, args: unknown): Promise<readonly string[]> {
    const { clock, runTool } = this.#deps
    const before = this.#mayCheck
    let allow = () => {}
    this.#mayCheck = new Promise((resolve) => {
      allow = resolve
    })
    await before
    const startedMs = clock.monotonicMs()
    try {
      return runTool.check(tool, args)
    } finally {
      if (clock.monotonicMs() - startedMs >= longCheckMs) clock.after(0, allow)
      else allow()
    }
  }

  #runInPage({ callId, name, arguments: args }: LlmToolCall, timeoutMs: number): Promise<ToolResult> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(timeoutMs, () => {
        this.#waiting.delete(callId)
        resolve(failed({ code: 'timeout' }))
      })
      this.#waiting.set(callId, (result) => {
        cancel()
        resolve(result)
      })
      this.#deps.notify({ type: 'toolRequested', id: callId, name, args })
    })
  }
}

/**
 * Returns the tools that this call can use: page tools need a page, and phone tools need a phone. `end_call` is added
 * unless it was switched off.
 */
function toolsOf({ pipeline, kind }: Call, hasPhone: boolean): Map<string, PipelineTool> {
  const tools = new Map<string, PipelineTool>()
  let ends = false
  for (const tool of pipeline.tools) {
    const { source } = tool
    if (source.kind === 'inline' && kind !== 'browser') continue
    if (source.kind === 'builtin') {
      if (source.name === 'send_dtmf' && !hasPhone) continue
      if (source.name === 'transfer_call' && kind === 'browser') continue
      if (source.name === 'end_call') {
        ends = true
        if (source.config?.enabled === false) continue
      }
    }
    tools.set(tool.name, tool)
  }
  if (!ends && !tools.has(endCallName)) tools.set(endCallName, endCallTool)
  return tools
}

const endCallTool: PipelineTool = {
  name: endCallName,
  description: 'Ends the call. Use it when the caller says goodbye or has nothing more to ask.',
  parameters: {
    type: 'object',
    properties: {
      reason: { type: 'string' },
      message: { type: 'string', description: 'The last words, spoken before the call ends.' },
    },
  },
  source: { kind: 'builtin', name: 'end_call', config: null },
  preToolSpeech: 'never',
}

/** Parses JSON. Returns undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(argumentsText(text))
  } catch {
    return undefined
  }
}

function failed(failure: ToolFailure): ToolResult {
  return { failure }
}

function cut(text: string): string {
  if (charactersOf(text) <= toolResultCharactersMax) return text
  return `${[...text].slice(0, toolResultCharactersMax).join('')}[truncated]`
}
