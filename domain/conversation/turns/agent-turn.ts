/**
 * One turn of the agent: an answer of the LLM or a given text, its speech, and what is recorded of it. A turn may begin
 * before the user's turn is surely over; it is then held, and dropped when the user goes on.
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { CancelSignal, Clock } from '../../ports/system.ts'
import type { Trace } from '../../ports/trace.ts'
import type { Turn } from '../../records/call.ts'
import type { Fault } from '../../records/fault.ts'
import type { ConversationInput } from '../parts/deps.ts'
import { AgentSpeech, type AgentSpeechDeps } from '../speaking/agent-speech.ts'
import type { Playout } from '../speaking/playout.ts'
import type { SessionVoice } from '../speaking/session-voice.ts'
import { wordsOfLanguage } from '../words/languages.ts'
import { itemsOf, Thinking, type ThinkingDeps } from './thinking.ts'
import type { AskedCall, DoneCall, EndCall } from './tool-calls.ts'

/** A tool that takes longer is announced, if its agent wants that. */
const leadInMs = 700

export type AgentTurnDeps = AgentSpeechDeps &
  ThinkingDeps & { clock: Clock; playout: Playout; sampleRateHz: number; defect: (error: unknown) => void }

export type AgentTurnEvents = {
  text(text: string): void
  /** The LLM has no answer, or broke off. */
  failed(fault: Fault): void
  /** No voice is left. */
  lost(fault: Fault): void
  /** The agent wants to end the call with these words. */
  endCall(endCall: EndCall): void
  toolsRun(isRunning: boolean): void
  lateTool(done: DoneCall): void
}

/**
 * When the user's turn ended, when the decision was due and when it was taken, on the monotonic clock. A null: no speech
 * came before.
 */
export type AskedAt = { speechEndMs: number | null; dueMs: number | null; decisionMs: number }

export type AgentTurnInput = {
  id: string
  /** Names the marks. */
  number: number
  /** The conversation so far, or null when the text is given. */
  history: readonly LlmItem[] | null
  /** The words of the user that are answered. */
  question: string | null
  voice: SessionVoice
}

export class AgentTurn {
  readonly id: string
  readonly number: number
  readonly question: string | null
  readonly startedMs: number
  /** The place of the turn in the trace of its call. Null: nobody traces it. */
  readonly trace: Trace | null
  readonly speech: AgentSpeech
  /** Null: the text was given. */
  readonly thinking: Thinking | null
  asked: AskedAt | null = null
  /** It began before the user's turn was surely over. */
  isPreempted = false
  hasFailed = false
  readonly #deps: AgentTurnDeps
  readonly #input: ConversationInput
  readonly #events: AgentTurnEvents
  /** Where the words of each request to the LLM begin in the text. */
  readonly #hopStarts: number[] = [0]
  #cancelLeadIn: (() => void) | null = null

  constructor(deps: AgentTurnDeps, input: ConversationInput, turn: AgentTurnInput, events: AgentTurnEvents) {
    const { pipeline } = input.call
    this.id = turn.id
    this.number = turn.number
    this.question = turn.question
    this.startedMs = deps.clock.monotonicMs()
    this.#deps = deps
    this.#input = input
    this.#events = events
    this.trace = input.trace?.below() ?? null
    const speechDeps = { ...deps, request: (signal: CancelSignal) => deps.request(signal, this.trace) }
    this.speech = new AgentSpeech(speechDeps, { pipeline, routing: input.routing.tts, voice: turn.voice }, deps, {
      text: (text) => events.text(text),
      lost: (fault) => events.lost(fault),
    })
    this.thinking = turn.history === null ? null : this.#think(turn.history)
    deps.playout.begin(turn.number)
    // A rejection that nobody handles would end the process, with all its other sessions.
    this.thinking?.run().catch((error: unknown) => deps.defect(error))
  }

  /** Speaks a given text, whole. */
  say(text: string): void {
    this.speech.say(text)
    this.speech.finish()
  }

  /** The LLM has failed: the turn ends with what was said, or with the words for a failure. */
  fallBack(): void {
    const { fallbackMessage, intent } = this.#input.call.pipeline
    if (this.speech.text === '') this.speech.say(fallbackMessage ?? wordsOfLanguage(intent.language).fallback)
    this.speech.finish()
  }

  /** The agent ends the call after these words, or after those of its settings. */
  sayEnd({ message }: EndCall): void {
    const text = message ?? this.#input.call.pipeline.endCallMessage
    if (text !== null) this.speech.say(` ${text}`)
  }

  /** The user's turn is over: the turn is played, and its tools may run. */
  release(asked: AskedAt | null): void {
    this.asked = asked
    this.thinking?.allow()
    this.#deps.playout.release()
  }

  /** Nothing more is made. */
  drop(): void {
    this.#cancelLeadIn?.()
    this.thinking?.drop()
    this.speech.drop()
  }

  get playedText(): string {
    return this.speech.playedText(this.#deps.playout.playedMs)
  }

  /**
   * Finds the last word that was played. The playout has stopped. A failure leaves the estimate. Null: nothing is to be
   * found, because the words are known or cannot be.
   */
  findPlayed(signal: AbortSignal): Promise<void> | null {
    const { playout, sampleRateHz } = this.#deps
    const { aligner } = this.#input
    const cut = aligner && this.speech.cutAt(playout.playedMs)
    if (!cut) return null
    const { text, samples } = cut
    const found = (place: number) => {
      if (!signal.aborted) cut.found(place)
    }
    return aligner.spokenUpTo({ text, samples, sampleRateHz }, signal).then(found, () => {})
  }

  /** The items that tell the LLM of this turn. */
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

  /** The row of the finished turn, without its index. */
  row(isWhole: boolean, wallMs: (monotonicMs: number) => number): Omit<Turn, 'index'> {
    const { clock, playout } = this.#deps
    const { speech, thinking, asked } = this
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
      ...this.#latencies(asked),
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

  #latencies(asked: AskedAt | null): Pick<Turn, 'eouMs' | 'llmTtftMs' | 'ttsTtfbMs' | 'conversationalLatencyMs'> {
    const { firstSentenceMs, firstAudioMs } = this.speech
    const firstTokenMs = this.thinking?.firstTokenMs ?? null
    const { firstPlayedMs } = this.#deps.playout
    const { speechEndMs = null, decisionMs = this.startedMs } = asked ?? {}
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

  #think(history: readonly LlmItem[]): Thinking {
    const { call, routing } = this.#input
    return new Thinking(
      this.#deps,
      { pipeline: call.pipeline, routing: routing.llm, history, trace: this.trace },
      {
        say: (delta) => this.#said(delta),
        toolsBegin: (calls) => this.#toolsBegin(calls),
        toolsDone: () => this.#toolsDone(),
        done: (endCall) => this.#done(endCall),
        failed: (fault) => this.#events.failed(fault),
        lateTool: (done) => this.#events.lateTool(done),
      },
    )
  }

  #said(delta: string): void {
    this.#cancelLeadIn?.()
    this.speech.say(delta)
  }

  #toolsBegin(calls: readonly AskedCall[]): void {
    this.speech.flush()
    this.#hopStarts.push(this.speech.text.length)
    if (calls.length === 0) return
    this.#events.toolsRun(true)
    const hasWords = (this.thinking?.hops.at(-1)?.text ?? '').trim() !== ''
    if (hasWords) return
    const wishes = calls.map(({ name }) => this.#deps.tools.find(name)?.preToolSpeech ?? 'auto')
    if (wishes.includes('always')) this.#leadIn()
    else if (wishes.includes('auto')) this.#cancelLeadIn = this.#deps.clock.after(leadInMs, () => this.#leadIn())
  }

  #leadIn(): void {
    this.#cancelLeadIn = null
    const { toolLeadIn } = wordsOfLanguage(this.#input.call.pipeline.intent.language)
    this.speech.say(toolLeadIn)
    this.speech.flush()
  }

  #toolsDone(): void {
    this.#cancelLeadIn?.()
    this.#events.toolsRun(false)
  }

  #done(endCall: EndCall | null): void {
    if (endCall !== null) this.#events.endCall(endCall)
    this.speech.finish()
  }
}

/** Whole milliseconds, never below 0. Null: one of the moments did not come. */
function span(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : Math.max(0, Math.round(toMs - fromMs))
}
