/**
 * Creates the agent's turns. It also holds the guess: an answer begun early, while the user may still continue to
 * speak.
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { Fault } from '../../records/fault.ts'
import type { ConversationInput } from '../parts/deps.ts'
import type { SessionVoice } from '../speaking/session-voice.ts'
import { sameWords } from '../words/user-text.ts'
import { AgentTurn, type AgentTurnDeps, type AgentTurnEvents } from './agent-turn.ts'
import type { History } from './history.ts'
import type { EndCall } from './tool-calls.ts'
import { recordDroppedTurn } from './turn-trace.ts'
import { Unheard } from './unheard.ts'

/**
 * `text`, `failed` and `endCall` also receive the reporting turn. An event is reported only if its turn is current,
 * except for late tool results. If a guess fails, it is dropped without an event.
 */
export type AgentTurnsEvents = Pick<AgentTurnEvents, 'voiceLost' | 'lateTool'> & {
  text(turn: AgentTurn, text: string): void
  failed(turn: AgentTurn, fault: Fault): void
  endCall(turn: AgentTurn, endCall: EndCall): void
  /** Returns true for the turn that the agent speaks now. */
  isCurrent(turn: AgentTurn): boolean
}

export class AgentTurns {
  readonly #deps: AgentTurnDeps & { newId: () => string }
  readonly #input: ConversationInput
  readonly #events: AgentTurnsEvents
  readonly #voice: SessionVoice = { route: null, preset: null }
  readonly unheard: Unheard
  #guess: AgentTurn | null = null
  #numbers = 0

  constructor(deps: AgentTurnDeps & { newId: () => string }, input: ConversationInput, events: AgentTurnsEvents) {
    this.#deps = deps
    this.#input = input
    this.#events = events
    this.unheard = new Unheard(input.call.pipeline)
  }

  get guess(): AgentTurn | null {
    return this.#guess
  }

  /**
   * Creates the LLM's answer to `question`, the last item in the history. If `question` is null, the LLM answers
   * `hint`, and the history does not contain the hint.
   */
  answer(history: History, question: string | null, hint?: string): AgentTurn {
    const items = history.items()
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
  startGuess(history: History, text: string): void {
    if (this.#guess?.question && sameWords(this.#guess.question, text)) return
    this.dropGuess()
    this.#guess = this.#make([...history.items(), { type: 'message', role: 'user', text }], text)
  }

  /**
   * Returns the answer to the user's words. If the early answer was begun for the same words, it is used. Otherwise it
   * is dropped.
   */
  answerTo(history: History, text: string): AgentTurn {
    const guess = this.#guess
    if (!guess?.question || !sameWords(guess.question, text)) {
      this.dropGuess()
      return this.answer(history, text)
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

  #make(history: LlmItem[] | null, question: string | null): AgentTurn {
    this.#numbers += 1
    const turnInput = { id: this.#deps.newId(), number: this.#numbers, history, question, voice: this.#voice }
    const events = this.#events
    const ifCurrent = (report: () => void) => {
      if (events.isCurrent(turn)) report()
    }
    const failed = (report: () => void) => (turn === this.#guess ? this.dropGuess() : ifCurrent(report))
    const turn: AgentTurn = new AgentTurn(this.#deps, this.#input, turnInput, {
      ...events,
      text: (text) => ifCurrent(() => events.text(turn, text)),
      failed: (fault) => failed(() => events.failed(turn, fault)),
      voiceLost: (fault) => failed(() => events.voiceLost(fault)),
      endCall: (endCall) => ifCurrent(() => events.endCall(turn, endCall)),
    })
    return turn
  }
}
