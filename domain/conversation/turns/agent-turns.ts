/**
 * Creates the agent's turns. It holds the current turn, and the guess: an answer begun early, while the user may still
 * continue to speak.
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { ConversationInput } from '../parts/deps.ts'
import { normalizerOf } from '../speaking/normalizer.ts'
import type { SessionVoice } from '../speaking/session-voice.ts'
import { sameWords } from '../words/user-text.ts'
import { AgentTurn, type AgentTurnDeps, type AgentTurnSiblings } from './agent-turn.ts'
import { FailedAnswers } from './failed-answers.ts'
import { firstMessageAfter } from './first-message.ts'
import { recordDroppedTurn } from './turn-trace.ts'
import { Unheard } from './unheard.ts'

export type AgentTurnsDeps = Omit<AgentTurnDeps, 'normalize' | 'presetLike' | 'request'> & { newId: () => string }

export class AgentTurns implements AgentTurnSiblings {
  current: AgentTurn | null = null
  readonly #deps: AgentTurnDeps & { newId: () => string }
  readonly #input: ConversationInput
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

  get guess(): AgentTurn | null {
    return this.#guess
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

  #make(items: LlmItem[] | null, question: string | null): AgentTurn {
    this.#numbers += 1
    const input = { id: this.#deps.newId(), number: this.#numbers, items, question }
    return new AgentTurn(this.#deps, this.#input, input, this)
  }
}
