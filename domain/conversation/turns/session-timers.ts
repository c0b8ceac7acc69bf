/**
 * Times a session: its maximum duration, the silence that ends it, and the silence after which the agent asks whether
 * the user is still there. Silence does not count while the socket is lost.
 */
import type { Clock } from '../../ports/system.ts'
import type { Pipeline } from '../../records/pipeline.ts'

export type SessionTimerEvents = {
  /**
   * Called when the agent should ask whether the user is still there. If `text` is null, the settings have no text, and
   * the LLM writes the question.
   */
  idle(text: string | null): void
  silence(): void
  maxDuration(): void
}

export class SessionTimers {
  readonly #clock: Clock
  readonly #pipeline: Pipeline
  readonly #events: SessionTimerEvents
  #cancelDuration: () => void
  #cancelIdle: (() => void) | null = null
  #cancelSilence: (() => void) | null = null
  /** Counts the agent's questions since the user last spoke. */
  #prompts = 0
  /**
   * The silence so far, without the time while the timers were stopped. The session ends at `silenceTimeoutSeconds`.
   */
  #silentMs = 0
  #silentSinceMs: number | null = null

  constructor(clock: Clock, pipeline: Pipeline, events: SessionTimerEvents) {
    this.#clock = clock
    this.#pipeline = pipeline
    this.#events = events
    this.#cancelDuration = clock.after(pipeline.maxDurationSeconds * 1000, () => events.maxDuration())
  }

  /** Resets the silence and the number of questions, because the user has said something. */
  userSpoke(): void {
    this.#prompts = 0
    this.#silentMs = 0
  }

  /** Resets the silence, because the agent has said something. A question after silence does not count. */
  agentSpoke(): void {
    this.#silentMs = 0
  }

  /** Starts the silence timers. */
  quiet(): void {
    if (this.#silentSinceMs !== null) return
    const { idleRePrompts, silenceTimeoutSeconds } = this.#pipeline
    this.#silentSinceMs = this.#clock.monotonicMs()
    const leftMs = Math.max(0, silenceTimeoutSeconds * 1000 - this.#silentMs)
    this.#cancelSilence = this.#clock.after(leftMs, () => this.#events.silence())
    if (!idleRePrompts.enabled || this.#prompts >= idleRePrompts.maxPrompts) return
    this.#cancelIdle = this.#clock.after(idleRePrompts.delayMs, () => this.#events.idle(this.#nextPrompt()))
  }

  /** Stops the silence timers, because a party speaks, the agent thinks, a tool runs, or the socket is lost. */
  busy(): void {
    this.#cancelIdle?.()
    this.#cancelSilence?.()
    this.#cancelIdle = this.#cancelSilence = null
    if (this.#silentSinceMs === null) return
    this.#silentMs += this.#clock.monotonicMs() - this.#silentSinceMs
    this.#silentSinceMs = null
  }

  stop(): void {
    this.busy()
    this.#cancelDuration()
  }

  #nextPrompt(): string | null {
    const { messages } = this.#pipeline.idleRePrompts
    return messages[Math.min(this.#prompts++, messages.length - 1)] ?? null
  }
}

/** Hints for the LLM. They are sent as the user's words, because many models answer only user messages. */
export const greetingHint = '[The caller has joined. Greet them and begin the conversation.]'
export const idleHint =
  '[The caller has said nothing for a while. Ask in one short sentence whether they are still there.]'
