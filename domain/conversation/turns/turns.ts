/** Runs a conversation's turns: reports events to the turn machine, and runs the effects that it returns. */
import type { StreamTranscript } from '../../ports/stt.ts'
import type { Said, SpeechSpans } from '../hearing/listening.ts'
import type { Transcription } from '../hearing/transcription.ts'
import type { ConversationInput } from '../parts/deps.ts'
import { isEcho } from '../words/own-words.ts'
import { AgentTurns, type AgentTurnsDeps } from './agent-turns.ts'
import { Goodbye } from './goodbye.ts'
import { History } from './history.ts'
import { Interruption } from './interruption.ts'
import { NextSpeech } from './next-speech.ts'
import { Settling } from './settling.ts'
import { lastSentenceMs, lastTranscriptMs, nearEndMs } from './turn-limits.ts'
import { initialTurnState, isAgents, step, type TurnEffect, type TurnEvent } from './turn-machine.ts'
import { type SaidTurn, UserTurn } from './user-turn.ts'

export type TurnsDeps = Omit<AgentTurnsDeps, 'history' | 'settling'> & {
  transcription: Pick<Transcription, 'flush' | 'forgetAudio' | 'readyMs' | 'text'>
}

export class Turns implements SpeechSpans {
  readonly #history: History
  readonly #deps: TurnsDeps
  readonly #input: ConversationInput
  readonly #user: UserTurn
  readonly #interruption: Interruption
  readonly #settling: Settling
  readonly #agent: AgentTurns
  readonly #goodbye: Goodbye
  #state = initialTurnState
  readonly #next = new NextSpeech()
  #answersSinceMs = Number.NEGATIVE_INFINITY
  #isMuted = false

  constructor(deps: TurnsDeps, input: ConversationInput) {
    this.#deps = deps
    this.#input = input
    this.#history = new History(input.call.pipeline.systemPrompt)
    this.#settling = new Settling(deps)
    this.#agent = new AgentTurns({ ...deps, history: this.#history, settling: this.#settling }, input)
    this.#goodbye = new Goodbye(deps.clock)
    this.#interruption = new Interruption(deps.clock, input.call.pipeline, {
      mode: () => this.#mode(),
      state: () => this.#state,
      user: () => this.#user,
      react: (verdict) => this.#react(verdict),
    })
    this.#user = new UserTurn(deps, input.call.pipeline, {
      decided: () => this.#react('decided'),
      nothingSaid: (spokenMs) => {
        this.#react('nothingSaid')
        this.#agent.unheard.after(spokenMs, this.#history, (text, hint) => this.prompt(text, hint))
      },
      guess: (text) => {
        if (!this.#isMuted && !this.#settling.isUnderWay && this.#state.phase === 'deciding')
          this.#agent.startGuess(text)
      },
      flush: () => deps.transcription.flush(),
    })
  }

  get phase() {
    return this.#state.phase
  }

  /** Returns true if it is the agent's turn. */
  get isAgents(): boolean {
    return isAgents(this.#state.phase)
  }

  /** Returns true if no party speaks and no tool runs. */
  get isQuiet(): boolean {
    return this.#state.phase === 'listening' && !this.#deps.tools.isBusy && !this.#settling.isUnderWay
  }

  /** Returns true if an uninterruptible text waits, or if its playout has not begun. */
  get awaitsText(): boolean {
    const { current, isProtected } = this.#agent
    const isUnplayed = isProtected && current?.thinking === null && !this.#state.started
    return this.#next.isProtected || isUnplayed
  }

  onset(atMs: number): void {
    this.#user.startSpeech(atMs)
    this.#deps.events.userSpoke()
    this.#react('speechStarted')
    this.#interruption.begin()
  }

  offset(atMs: number): void {
    this.#user.endSpeech(atMs)
    this.#react('speechEnded')
    if (this.#state.phase === 'paused') {
      // Voice activity detection reported this speech late. The agent's answer already covers it.
      if (atMs <= this.#answersSinceMs && this.#user.text === '') return this.#react('falseAlarm')
      this.#deps.transcription.flush()
      this.#interruption.judge(false)
    }
    if (this.#state.phase === 'closing' && this.#agent.current === null) this.#endUserTurn()
  }

  transcript(transcript: StreamTranscript, said: Said): void {
    if (!this.#user.add(transcript, said)) {
      if (this.#state.phase === 'deciding') this.#user.decide()
      return
    }
    const { phase } = this.#state
    if (phase === 'closing' || phase === 'over') return
    // If no speech was detected, the transcript comes from the agent's echo, or from speech too quiet for detection.
    if (!this.#user.isSpeech(said) && (isAgents(phase) || isEcho(this.#user.text, this.#agent.lastWords)))
      return this.#user.drop()
    this.#deps.record.userText(this.#user.id, this.#user.text, false)
    if (isAgents(phase)) return this.#interruption.judge(false)
    this.#deps.events.userSpoke()
    this.#react('words')
  }

  typed(text: string, metadata: Record<string, unknown>): void {
    this.#deps.events.userSpoke()
    const due = () => {
      this.#history.user(text)
      this.#deps.record.typedTurn(text, metadata)
    }
    if (this.#isMuted) return this.#settling.afterwards(due)
    const begin = () => {
      const decisionMs = this.#deps.clock.monotonicMs()
      this.#agent.start(this.#agent.answer(text), { speechEndMs: null, dueMs: null, decisionMs })
    }
    this.#next.want({ isProtected: false, answersWords: false, due, begin })
    this.#react('typed')
  }

  /** Silences the agent while joined people speak. Their words and the user's words go to the history. */
  mute(isMuted: boolean): void {
    this.#isMuted = isMuted
    if (!isMuted) return
    this.#agent.dropGuess()
    this.#react('muted')
  }

  /** Adds a note for the LLM, or a joined person's words. An answer that began without them is dropped. */
  note(text: string, role: 'system' | 'assistant' = 'system'): void {
    this.#agent.dropGuess()
    if (role === 'system') this.#history.note(text)
    else this.#settling.afterwards(() => this.#history.agent([{ type: 'message', role, text }]))
  }

  /**
   * Makes the agent speak without a user's turn: `text`, or the LLM's words about `hint` if `text` is null. If
   * `isNext`, the agent speaks even while the user speaks.
   */
  prompt(text: string | null, hint: string, isProtected = false, isNext = false): void {
    if (this.#isMuted) return
    const begin = () => {
      const turn = text === null ? this.#agent.answer(null, hint) : this.#agent.line(text)
      this.#agent.start(turn, null, isProtected)
    }
    this.#next.want({ isProtected, answersWords: false, due: () => {}, begin })
    this.#react(isNext ? 'typed' : 'prompted')
  }

  agentStarted(): void {
    this.#react('agentStarted')
  }

  agentFinished(): void {
    const turn = this.#agent.finish()
    if (turn === null) return
    if (turn.endsCall) return this.#deps.events.agentHungUp()
    if (this.#state.phase === 'closing' && this.#goodbye.isAwaited) return this.#sayGoodbye()
    this.#react('agentFinished')
  }

  /** Call this when the client has reported its playout position. */
  cleared(): void {
    this.#settling.cleared()
  }

  drained(): void {
    this.#agent.drained()
  }

  /** Makes the agent stop after the current sentence. Returns false if the agent is not in a sentence. */
  endSentence(): boolean {
    return this.#agent.endSentence(this.#state.started)
  }

  /** Ends the session after the current sentence and after `text`. `isMessage` allows more time for the text. */
  close(text: string | null, isMessage: boolean): void {
    this.#goodbye.plan(this.#isMuted ? null : text, isMessage)
    this.#react('close')
  }

  end(): void {
    this.#react('end')
  }

  #react(event: TurnEvent): void {
    const before = this.#state.phase
    const effective = this.#isMuted && event === 'decided' ? 'kept' : event
    const { state, effects } = step(this.#state, effective, this.#mode())
    this.#state = state
    if (state.phase !== before && state.phase !== 'over') this.#deps.events.activityChanged()
    for (const effect of effects) this.#effects[effect]()
  }

  #mode() {
    if (this.#next.isProtected || this.#agent.isProtected) return 'none'
    return this.#input.call.pipeline.turnHandling.interruption.mode
  }

  readonly #effects: Record<TurnEffect, () => void> = {
    decide: () => this.#user.decide(),
    keepListening: () => {
      this.#user.keepListening()
      if (this.#state.phase === 'listening') this.#agent.dropGuess()
    },
    answer: () => this.#wantAnswer(),
    keep: () => this.#settling.afterwards(() => this.#takeRest()),
    speak: () => {
      this.#user.keepListening()
      this.#agent.dropGuess()
      this.#takeNext()
    },
    pause: () => this.#deps.playout.pause(),
    resume: () => this.#resume(),
    interrupt: () => this.#interrupt(),
    catchUp: () => this.#catchUp(),
    sayGoodbye: () => this.#endSentence(),
    finish: () => this.#finish(),
  }

  /** Answers the user's words. If a typed text replaces the answer, the answer to the text covers them too. */
  #wantAnswer(): void {
    const due = () => {
      // If the user went on speaking, the words belong to a turn that is not over yet.
      if (!this.#next.answersWords && this.#state.phase === 'thinking') this.#takeRest()
    }
    this.#next.want({ isProtected: false, answersWords: true, due, begin: () => this.#answer() })
    this.#takeNext()
  }

  #takeNext(): void {
    this.#next.take(
      (run) => this.#settling.afterwards(run),
      () => this.#beginNext(),
    )
  }

  /** Begins the speech that is due. While a sound from the user pauses the agent, the speech waits for `resume`. */
  #beginNext(): void {
    const { phase } = this.#state
    if (phase === 'thinking') this.#next.begin()
    else if (phase !== 'paused') this.#next.drop()
  }

  #answer(): void {
    const said = this.#takeSaid()
    const decisionMs = this.#deps.clock.monotonicMs()
    this.#answersSinceMs = decisionMs
    this.#agent.start(this.#agent.answerTo(said.text), { ...said, decisionMs })
  }

  /** Adds the user's turn to the transcript and the history. Returns the turn. */
  #takeSaid(): SaidTurn {
    const said = this.#user.take()
    this.#deps.transcription.forgetAudio()
    this.#deps.record.userTurn(said, 'stt', {})
    this.#history.user(said.text)
    return said
  }

  #resume(): void {
    this.#interruption.end()
    const { id, text } = this.#user
    // If an answer to the words waits, they are not a backchannel.
    if (text !== '' && !this.#next.answersWords && this.#deps.playout.leftMs > nearEndMs) {
      this.#deps.record.userText(id, text, true)
      this.#user.drop()
    }
    this.#deps.playout.release()
    this.#next.begin()
  }

  #interrupt(): void {
    this.#interruption.end()
    this.#next.drop()
    this.#agent.interrupt()
  }

  /**
   * Handles words that the user said while the agent could not be interrupted, or directly before the end of the
   * agent's turn.
   */
  #catchUp(): void {
    this.#interruption.end()
    if (this.#user.text !== '' && !this.#state.talks) this.#react('words')
  }

  /** Waits for the agent's or the user's current sentence before the goodbye. */
  #endSentence(): void {
    this.#user.keepListening()
    this.#agent.dropGuess()
    this.#goodbye.after(lastSentenceMs, () => this.#sayGoodbye())
    if (this.endSentence() || (this.#agent.current === null && this.#state.talks)) return
    this.#sayGoodbye()
  }

  /** Waits until the user's last words are final, before the goodbye. */
  #endUserTurn(): void {
    this.#deps.transcription.flush()
    this.#goodbye.after(lastTranscriptMs, () => this.#sayGoodbye())
  }

  #sayGoodbye(): void {
    const words = this.#goodbye.take()
    if (words === null) return
    this.#interrupt()
    this.#settling.afterwards(() => this.#takeRest())
    const { text, withinMs } = words
    if (text === null) return this.#settling.afterwards(() => this.#react('end'))
    this.#goodbye.after(withinMs, () => this.#react('end'))
    this.#settling.afterwards(() => this.#agent.start(this.#agent.line(text), null))
  }

  #finish(): void {
    this.#goodbye.cancel()
    this.#interruption.end()
    this.#agent.dropGuess()
    this.#interrupt()
    this.#settling.settle()
    this.#takeRest()
    this.#user.close()
    this.#deps.events.sessionOver()
  }

  /** Adds the user's remaining words to the transcript. They get no answer. */
  #takeRest(): void {
    if (this.#user.text !== '') this.#takeSaid()
  }
}
