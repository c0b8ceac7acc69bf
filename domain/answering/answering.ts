/**
 * Detects if a machine has answered a call. If so, the agent leaves a message or hangs up. The conversation does
 * not wait for the result. See the state table in states.ts.
 */
import { ToneDetector } from '../../audio/tone-detector.ts'
import { callersLanguage } from '../conversation/words/languages/languages.ts'
import type { Clock } from '../ports/system.ts'
import { vadRateHz } from '../ports/vad.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { AnswerableConversation } from './answerable.ts'
import type { CallerObserver } from './caller-observer.ts'
import { GreetingDetector } from './greeting-detector.ts'
import { type AnswerEvent, type AnswerState, nextAnswerState } from './states.ts'

export type AnswerResult = 'human' | 'machine' | 'not_sure'

export type AnswerPlan = {
  /** `agent`: the greeting is analysed in this process. `carrier`: the carrier reports the result. */
  mode: 'agent' | 'carrier'
  /** True if the client requested `carrier`, but the call's trunk cannot detect machines, so `mode` is `agent`. */
  isSubstitute?: boolean
  /** If there is no result this long after the call was answered, the result is `not_sure`. */
  timeoutMs: number
  action: 'hangup' | 'leave_message'
  /** The message for an answering machine. If null, the conversation's first message is used. */
  message: string | null
}

export type OpeningSettings = Pick<Pipeline, 'firstMessage' | 'intent' | 'sttOptions'>

export type AnsweringDeps = {
  clock: Pick<Clock, 'monotonicMs' | 'after'>
  /** Called once with the result. */
  decided: (result: AnswerResult, latencyMs: number) => void
}

/** If a greeting has no tone, it has ended after this much silence. */
const silenceMs = 2_000
/** If a greeting does not end in this time, the message is left anyway. */
const greetingMs = 30_000

export class Answering {
  readonly plan: AnswerPlan
  readonly observer: CallerObserver
  readonly #deps: AnsweringDeps
  readonly #tone: ToneDetector
  #state: AnswerState = 'asking'
  #answeredMs: number | null = null
  #conversation: AnswerableConversation | null = null
  /** Analyses the greeting. Null if the carrier decides, or after the decision. */
  #greeting: GreetingDetector | null = null
  #firstMessage: string | null = null
  #speaks = false
  #cancelTimeout = () => {}
  #cancelGreeting = () => {}
  #cancelSilence = () => {}

  constructor(plan: AnswerPlan, deps: AnsweringDeps) {
    this.plan = plan
    this.#deps = deps
    this.#tone = new ToneDetector(vadRateHz, {
      began: () => {
        if (plan.mode === 'agent') this.decide('machine')
      },
      ended: () => this.#react('greeted'),
    })
    this.observer = {
      audio: (samples) => {
        if (this.#state === 'greeting' || this.#greeting !== null) this.#tone.push(samples)
      },
      onset: (atMs) => {
        this.#speaks = true
        this.#greeting?.onset(atMs)
        this.#cancelSilence()
      },
      offset: (atMs) => {
        this.#speaks = false
        this.#greeting?.offset(atMs)
        this.#awaitSilence()
      },
      words: (text, isFinal) => this.#greeting?.words(text, isFinal),
    }
  }

  /** Starts the detection's timeout. Called when the call is answered. A second call does nothing. */
  answered(): void {
    if (this.#answeredMs !== null) return
    const { clock } = this.#deps
    this.#answeredMs = clock.monotonicMs()
    this.#cancelTimeout = clock.after(this.plan.timeoutMs, () => this.decide('not_sure'))
  }

  /** Connects the conversation to this detection. If a result has arrived already, it takes effect now. */
  begin(conversation: AnswerableConversation, settings: OpeningSettings): void {
    this.#conversation = conversation
    this.#firstMessage = settings.firstMessage
    const { clock } = this.#deps
    if (this.plan.mode === 'agent' && this.#state === 'asking')
      this.#greeting = new GreetingDetector({
        clock,
        language: callersLanguage(settings),
        decided: (result) => this.decide(result),
      })
    this.#enter()
  }

  /** Accepts a result. Only the first result counts. */
  decide(result: AnswerResult): void {
    const { action } = this.plan
    const machine = action === 'hangup' ? 'unwanted' : 'machine'
    if (this.#state !== 'asking') return
    const { clock, decided } = this.#deps
    const nowMs = clock.monotonicMs()
    decided(result, Math.round(nowMs - (this.#answeredMs ?? nowMs)))
    this.#react(result === 'machine' ? machine : 'person')
  }

  /** Ends the detection without a result, because the call is being transferred. */
  giveUp(): void {
    if (this.#state === 'greeting') this.#conversation?.silence(false)
    this.close()
  }

  /** Ends the detection, because the call is over. */
  close(): void {
    this.#conversation = null
    this.#react('closed')
  }

  #react(event: AnswerEvent): void {
    const next = nextAnswerState(this.#state, event)
    if (next === null) return
    this.#state = next
    this.#greeting?.close()
    this.#greeting = null
    this.#cancelTimeout()
    this.#cancelGreeting()
    this.#cancelSilence()
    this.#enter()
  }

  /** Performs the new state's actions. Before the conversation begins, this does nothing; `begin` calls it again. */
  #enter(): void {
    const conversation = this.#conversation
    if (conversation === null) return
    switch (this.#state) {
      case 'asking':
      case 'talking':
        return
      case 'greeting':
        conversation.silence(true)
        this.#cancelGreeting = this.#deps.clock.after(greetingMs, () => this.#react('greeted'))
        return this.#awaitSilence()
      case 'message':
        return conversation.leave('voicemail', this.plan.message ?? this.#firstMessage)
      case 'over':
        return conversation.end('voicemail')
    }
  }

  #awaitSilence(): void {
    this.#cancelSilence()
    if (this.#state !== 'greeting' || this.#speaks) return
    this.#cancelSilence = this.#deps.clock.after(silenceMs, () => this.#react('greeted'))
  }
}
