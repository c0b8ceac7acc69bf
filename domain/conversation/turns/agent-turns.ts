/**
 * The agent's turns. It makes them, and it holds two: the guess is an answer that was begun early, while the user may
 * still continue to speak, and the current turn is being spoken. When the current turn is over, the history and the
 * call's record get its played part.
 *
 *   made ──start──► current ──finish──► closed, played whole
 *     │                └─interrupt──► settling ──► closed, played in part
 *     └─ as a guess ──► taken as an answer, or dropped
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { ConversationEvents } from '../parts/conversation-events.ts'
import type { ConversationInput } from '../parts/deps.ts'
import { normalizerOf } from '../speaking/normalizer.ts'
import type { SessionVoice } from '../speaking/session-voice.ts'
import { sameWords } from '../words/user-text.ts'
import { AgentTurn, type AgentTurnDeps, type AgentTurnSiblings, type DecisionTiming } from './agent-turn.ts'
import { FailedAnswers } from './failed-answers.ts'
import { firstMessageAfter } from './first-message.ts'
import type { Settling } from './settling.ts'
import type { TurnRecord } from './turn-record.ts'
import { recordDroppedTurn } from './turn-trace.ts'
import { Unheard } from './unheard.ts'

type OwnDeps = {
  newId: () => string
  events: ConversationEvents
  record: TurnRecord
  settling: Pick<Settling, 'begin'>
}

export type AgentTurnsDeps = Omit<AgentTurnDeps, 'normalize' | 'presetLike' | 'request'> & OwnDeps

export class AgentTurns implements AgentTurnSiblings {
  readonly #deps: AgentTurnDeps & OwnDeps
  readonly #input: ConversationInput
  #current: AgentTurn | null = null
  #isProtected = false
  #lastWords = ''
  readonly voice: SessionVoice = { route: null, preset: null }
  readonly failures = new FailedAnswers()
  readonly unheard: Unheard
  #guess: AgentTurn | null = null
  #numbers = 0

  constructor(deps: AgentTurnsDeps, input: ConversationInput) {
    const { request, presetLike, call } = input
    this.#deps = { ...deps, request, presetLike, normalize: normalizerOf(call.pipeline) }
    this.#input = input
    this.unheard = new Unheard(call.pipeline)
  }

  get current(): AgentTurn | null {
    return this.#current
  }

  get guess(): AgentTurn | null {
    return this.#guess
  }

  /** Returns true if there is a current turn that the user cannot interrupt. */
  get isProtected(): boolean {
    return this.#current !== null && this.#isProtected
  }

  /** Returns the text of the last turn that is over. */
  get lastWords(): string {
    return this.#lastWords
  }

  /**
   * Creates the LLM's answer to `question`, the last item in the history. If `question` is null, the LLM answers
   * `hint`, and the history does not contain the hint.
   */
  answer(question: string | null, hint?: string): AgentTurn {
    const items = this.#deps.history.items()
    if (question === null && hint !== undefined) items.push({ type: 'message', role: 'user', text: hint })
    return this.#make(items, question)
  }

  /** Creates a turn that speaks a given text. */
  line(text: string): AgentTurn {
    const turn = this.#make(null, null)
    turn.say(text)
    return turn
  }

  /** Begins an answer early, while the user may still continue to speak. */
  startGuess(text: string): void {
    if (this.#guess?.question && sameWords(this.#guess.question, text)) return
    this.dropGuess()
    const items = this.#deps.history.items()
    if (firstMessageAfter(text, items, this.#input.call) !== null) return
    this.#guess = this.#make([...items, { type: 'message', role: 'user', text }], text)
  }

  /**
   * Returns the answer to the user's words, the last item in the history. If the early answer was begun for the same
   * words, it is used. Otherwise it is dropped.
   */
  answerTo(text: string): AgentTurn {
    const guess = this.#guess
    if (!guess?.question || !sameWords(guess.question, text)) {
      this.dropGuess()
      const firstMessage = firstMessageAfter(text, this.#deps.history.items().slice(0, -1), this.#input.call)
      return firstMessage === null ? this.answer(text) : this.line(firstMessage)
    }
    this.#guess = null
    guess.isPreempted = true
    return guess
  }

  dropGuess(): void {
    if (this.#guess === null) return
    this.#guess.drop()
    recordDroppedTurn(this.#guess)
    this.#guess = null
    this.#deps.playout.stop()
  }

  /** Makes a turn the current turn, and starts its playout. */
  start(turn: AgentTurn, timing: DecisionTiming | null, isProtected = false): void {
    this.#current = turn
    this.#isProtected = isProtected
    turn.release(timing)
    if (turn.speech.text !== '') this.#deps.record.agentText(turn.id, turn.speech.text, false, false)
  }

  /** Makes the current turn, or else the guess, go on with its speech, because the playout has space again. */
  drained(): void {
    ;(this.#current ?? this.#guess)?.speech.resume()
  }

  /** Makes the agent stop after the current sentence. Returns false if no turn has begun to be played. */
  endSentence(isStarted: boolean): boolean {
    const { playout } = this.#deps
    if (this.#current === null || (!isStarted && playout.playedMs === 0)) return false
    this.#current.endSentence(playout.playedMs)
    playout.release()
    return true
  }

  /** Ends the current turn, because it was played whole. Returns the turn. */
  finish(): AgentTurn | null {
    const turn = this.#current
    if (turn === null) return null
    this.#current = null
    if (!turn.hasFailed && turn.thinking !== null) this.failures.reset()
    this.#close(turn, true)
    return turn
  }

  /** Ends the current turn before it was played whole. */
  interrupt(): void {
    const turn = this.#current
    if (turn === null) return
    this.#current = null
    turn.drop()
    this.#deps.toolsRun(false)
    this.#deps.playout.stop()
    this.#lastWords = turn.speech.text
    this.#deps.settling.begin(turn, () => {
      this.#close(turn, false)
      this.#deps.events.activityChanged()
    })
  }

  #close(turn: AgentTurn, isWhole: boolean): void {
    turn.drop()
    this.#deps.history.agent(turn.items(isWhole))
    this.#lastWords = turn.speech.text
    this.#deps.record.agentTurn(turn, isWhole)
  }

  #make(items: LlmItem[] | null, question: string | null): AgentTurn {
    this.#numbers += 1
    const input = { id: this.#deps.newId(), number: this.#numbers, items, question }
    return new AgentTurn(this.#deps, this.#input, input, this)
  }
}
