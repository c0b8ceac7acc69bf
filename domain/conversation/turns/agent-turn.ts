/**
 * One agent turn: an LLM answer or a given text, its speech, and its record. A turn may begin before it is certain that
 * the user has finished. Then its playout waits, and the turn is dropped if the user goes on.
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { CancelSignal, Clock } from '../../ports/system.ts'
import type { Trace } from '../../ports/trace.ts'
import type { Turn } from '../../records/call.ts'
import type { Fault } from '../../records/fault.ts'
import type { StageEvents } from '../parts/conversation-events.ts'
import type { ConversationInput } from '../parts/deps.ts'
import type { FailoverRecord } from '../parts/failover-record.ts'
import { AgentSpeech, type AgentSpeechDeps } from '../speaking/agent-speech.ts'
import type { Playout } from '../speaking/playout.ts'
import type { SessionVoice } from '../speaking/session-voice.ts'
import { wordsOfLanguage } from '../words/languages/languages.ts'
import type { FailedAnswers } from './failed-answers.ts'
import type { History } from './history.ts'
import { itemsOf, Thinking, type ThinkingDeps } from './thinking.ts'
import type { EndRequest, LlmToolCall } from './tool-calls.ts'

/** If a tool takes longer than this, the agent announces the wait, unless its settings switch this off. */
const leadInMs = 700

export type AgentTurnDeps = AgentSpeechDeps &
  ThinkingDeps & {
    clock: Clock
    events: StageEvents
    history: History
    playout: Playout
    record: FailoverRecord & { agentText(id: string, text: string, isFinal: boolean, interrupted: boolean): void }
    sampleRateHz: number
    defect: (error: unknown) => void
    /** Called when tools in the agent's turn begin to run, or have all ended. */
    toolsRun: (isRunning: boolean) => void
  }

/**
 * Times on the monotonic clock: when the user's speech ended, when the decision that the turn is over was due, and when
 * it was made. The first two are null if no speech came before.
 */
export type DecisionTiming = { speechEndMs: number | null; dueMs: number | null; decisionMs: number }

export type AgentTurnInput = {
  id: string
  /** The turn's number, for the names of the marks in its audio. */
  number: number
  /** The conversation so far, as input for the LLM. Null if the text is given. */
  items: readonly LlmItem[] | null
  /** The user's words to answer. Null if the user has said nothing. */
  question: string | null
}

/** The agent's turns in the conversation, as far as one turn needs them. */
export interface AgentTurnSiblings {
  /** The turn that the agent speaks now. */
  readonly current: AgentTurn | null
  /** The answer that was begun early. */
  readonly guess: AgentTurn | null
  readonly voice: SessionVoice
  readonly failures: FailedAnswers
  dropGuess(): void
}

export class AgentTurn {
  readonly id: string
  readonly number: number
  readonly question: string | null
  readonly startedMs: number
  /** The trace context for the turn's span. Null if the call is not traced. */
  readonly trace: Trace | null
  readonly speech: AgentSpeech
  /** The LLM's answer. Null if the text was given. */
  readonly thinking: Thinking | null
  timing: DecisionTiming | null = null
  /** True if the turn began before it was certain that the user had finished. */
  isPreempted = false
  hasFailed = false
  /** True if the LLM has ended the call. The call then ends after this turn, unless the turn is interrupted. */
  endsCall = false
  readonly #deps: AgentTurnDeps
  readonly #input: ConversationInput
  readonly #siblings: AgentTurnSiblings
  /** For each LLM request in this turn: the position in the turn's text where the request's answer begins. */
  readonly #hopStarts: number[] = [0]
  #cancelLeadIn: (() => void) | null = null

  constructor(deps: AgentTurnDeps, input: ConversationInput, turn: AgentTurnInput, siblings: AgentTurnSiblings) {
    const { pipeline } = input.call
    this.id = turn.id
    this.number = turn.number
    this.question = turn.question
    this.startedMs = deps.clock.monotonicMs()
    this.#deps = deps
    this.#input = input
    this.#siblings = siblings
    this.trace = input.trace?.below() ?? null
    const speechDeps = { ...deps, request: (signal: CancelSignal) => deps.request(signal, this.trace) }
    const speechInput = { pipeline, routing: input.routing.tts, voice: siblings.voice }
    this.speech = new AgentSpeech(speechDeps, speechInput, deps, {
      text: (text) => {
        if (this === siblings.current) deps.record.agentText(this.id, text, false, false)
      },
      voiceLost: (fault) => this.#failed(() => deps.events.stageLost(fault)),
    })
    this.thinking = turn.items === null ? null : this.#think(turn.items)
    deps.playout.begin(turn.number)
    // An unhandled rejection would end the process with all its other sessions.
    this.thinking?.run().catch((error: unknown) => deps.defect(error))
  }

  /** Speaks a given text as the whole turn. */
  say(text: string): void {
    this.speech.say(text)
    this.speech.finish()
  }

  /** Stops the LLM and the speech after the sentence that is played at `playedMs`. */
  endSentence(playedMs: number): void {
    this.thinking?.drop()
    this.speech.endSentence(playedMs)
  }

  /** Starts the playout and allows the tools, because the user's turn is over. */
  release(timing: DecisionTiming | null): void {
    this.timing = timing
    this.thinking?.allow()
    this.#deps.playout.release()
  }

  /** Stops the LLM and the voice. */
  drop(): void {
    this.#cancelLeadIn?.()
    this.thinking?.drop()
    this.speech.drop()
  }

  get playedText(): string {
    return this.speech.playedText(this.#deps.playout.playedMs)
  }

  /**
   * Finds the last played word, after the playout has stopped. If the search fails, the estimate is kept. Returns null
   * if no search is needed or possible.
   */
  findPlayed(signal: AbortSignal): Promise<void> | null {
    const { playout, sampleRateHz } = this.#deps
    const { aligner } = this.#input
    const cut = aligner && this.speech.cutAt(playout.playedMs)
    if (!cut) return null
    const { text, samples } = cut
    const report = (place: number) => {
      if (!signal.aborted) cut.reportPlace(place)
    }
    return aligner.spokenUpTo({ text, samples, sampleRateHz }, signal).then(report, () => {})
  }

  /** Returns the turn as items for the LLM. `isWhole` is false if only the played text counts. */
  items(isWhole: boolean): LlmItem[] {
    const text = isWhole ? this.speech.text : this.playedText
    const hops = this.thinking?.hops ?? []
    const items: LlmItem[] = []
    for (let at = 0; at < Math.max(1, hops.length); at++) {
      const words = text.slice(this.#hopStarts[at] ?? text.length, this.#hopStarts[at + 1] ?? text.length)
      items.push(...itemsOf(words, hops[at]?.calls ?? []))
    }
    return items
  }

  /** Returns the finished turn's row for the transcript, without its index. */
  row(isWhole: boolean, wallMs: (monotonicMs: number) => number): Omit<Turn, 'index'> {
    const { clock, playout } = this.#deps
    const { speech, thinking, timing } = this
    const { firstPlayedMs } = playout
    const startedMs = firstPlayedMs ?? this.startedMs
    return {
      id: this.id,
      source: 'agent',
      text: speech.text,
      startedAtMs: Math.round(wallMs(startedMs)),
      endedAtMs: Math.round(wallMs(clock.monotonicMs())),
      provider: thinking?.route?.provider ?? null,
      model: thinking?.route?.model ?? null,
      ...this.#latencies(timing),
      latencyStatus: this.#latencyStatus(isWhole),
      toolCalls: thinking?.toolCalls ?? [],
      playedText: isWhole ? speech.text : this.playedText,
      metadata: {
        ttsProvider: speech.route?.provider ?? null,
        ttsModel: speech.route?.model ?? null,
        voice: this.#input.call.pipeline.voice,
        ...(playout.isEstimated && { playout: 'estimated' }),
      },
    }
  }

  #latencies(
    timing: DecisionTiming | null,
  ): Pick<Turn, 'eouMs' | 'llmTtftMs' | 'ttsTtfbMs' | 'conversationalLatencyMs'> {
    const { firstSentenceMs, firstAudioMs } = this.speech
    const firstTokenMs = this.thinking?.firstTokenMs ?? null
    const { firstPlayedMs } = this.#deps.playout
    const { speechEndMs = null, decisionMs = this.startedMs } = timing ?? {}
    return {
      eouMs: span(speechEndMs, speechEndMs === null ? null : decisionMs),
      llmTtftMs: span(decisionMs, firstTokenMs),
      ttsTtfbMs: span(firstSentenceMs, firstAudioMs),
      conversationalLatencyMs: span(speechEndMs, firstPlayedMs),
    }
  }

  #latencyStatus(isWhole: boolean): Turn['latencyStatus'] {
    if (this.hasFailed) return 'error'
    if (!isWhole) return 'interrupted'
    return this.#deps.playout.isEstimated ? 'partial' : 'complete'
  }

  #think(items: readonly LlmItem[]): Thinking {
    const { call, routing } = this.#input
    return new Thinking(
      this.#deps,
      { pipeline: call.pipeline, routing: routing.llm, items, trace: this.trace },
      {
        say: (delta) => this.#said(delta),
        toolsBegin: (calls) => this.#toolsBegin(calls),
        toolsDone: () => this.#toolsDone(),
        done: (ending) => this.#done(ending),
        answerFailed: (fault) => this.#failed(() => this.#recover(fault)),
      },
    )
  }

  /** Handles a failure in the current turn. A guess is only dropped, because another answer can be made. */
  #failed(handle: () => void): void {
    const { current, guess } = this.#siblings
    if (this === guess) this.#siblings.dropGuess()
    else if (this === current) handle()
  }

  /** Ends the turn after the LLM has failed: with the words said so far, or with the fallback message. */
  #recover(fault: Fault): void {
    this.hasFailed = true
    if (this.#siblings.failures.add(fault)) return this.#deps.events.stageLost(fault)
    const { fallbackMessage, intent } = this.#input.call.pipeline
    if (this.speech.text === '') this.speech.say(fallbackMessage ?? wordsOfLanguage(intent.language).agent.fallback)
    this.speech.finish()
  }

  #said(delta: string): void {
    this.#cancelLeadIn?.()
    this.speech.say(delta)
  }

  #toolsBegin(calls: readonly LlmToolCall[]): void {
    this.speech.flush()
    this.#hopStarts.push(this.speech.text.length)
    if (calls.length === 0) return
    this.#deps.toolsRun(true)
    const hasWords = (this.thinking?.hops.at(-1)?.text ?? '').trim() !== ''
    if (hasWords) return
    const wishes = calls.map(({ name }) => this.#deps.tools.find(name)?.preToolSpeech ?? 'auto')
    if (wishes.includes('always')) this.#leadIn()
    else if (wishes.includes('auto')) this.#cancelLeadIn = this.#deps.clock.after(leadInMs, () => this.#leadIn())
  }

  #leadIn(): void {
    this.#cancelLeadIn = null
    const { toolLeadIn } = wordsOfLanguage(this.#input.call.pipeline.intent.language).agent
    this.speech.say(toolLeadIn)
    this.speech.flush()
  }

  #toolsDone(): void {
    this.#cancelLeadIn?.()
    this.#deps.toolsRun(false)
  }

  #done(ending: EndRequest | null): void {
    if (ending !== null && this === this.#siblings.current) this.#sayEnd(ending)
    this.speech.finish()
  }

  /** Says the agent's last words before the call ends: the LLM's message, or else the configured end-call message. */
  #sayEnd({ message }: EndRequest): void {
    this.endsCall = true
    const text = message ?? this.#input.call.pipeline.endCallMessage
    if (text !== null) this.speech.say(` ${text}`)
  }
}

/** Returns the time from `fromMs` to `toMs` in whole milliseconds, never below 0. Null if either is null. */
function span(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : Math.max(0, Math.round(toMs - fromMs))
}
