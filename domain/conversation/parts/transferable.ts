/** The part of a conversation that transfers use. */
import type { HoldTone } from '../../../audio/hold-tones.ts'
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'

export interface TransferableConversation {
  /** True when its last words are said, or when it is over. It cannot be put on hold any more. */
  readonly isEnding: boolean
  /**
   * The agent ends its sentence and is silent. Then the caller receives only the sound, the caller's audio is not used,
   * and `held` is called once. Returns false if the conversation is ending.
   */
  hold(sound: HoldSound, held: () => void): boolean
  /** The caller is with the agent again. `held` is not called any more. */
  resume(after: AfterHold): void
  /** The caller talks to another party over the line, so the agent leaves. The record ends when the call does. */
  handOver(): void
  /** The organization has no credit, so the call ends after the current sentence. */
  creditGone(): void
  /** The agent's voice says `text` to another person, who decides whether to take the call. */
  screen(text: string, media: MediaTransport, events: ScreeningEvents): Screening
}

/** The turns for a transfer in the transcript. If the transfer fails, the note in its `AfterHold` replaces `done`. */
export const transferNotes = {
  begun: 'The caller is on hold while the call is transferred.',
  done: 'The call was transferred.',
} as const

export type HoldSound = {
  tone: HoldTone
  /** Replaces the tone when it is ready. Never rejects. If null, the tone goes on. */
  audio: ((rateHz: number) => Promise<Int16Array | null>) | null
}

export type AfterHold = {
  /** For the transcript, and for the agent. */
  note: string
  /** Spoken by the agent. If null, the LLM finds words for the reason in `hint`. */
  message: string | null
  hint: string
  /** The call ends after the message. */
  endsCall: boolean
}

export type Decision = 'accepted' | 'declined'
export type ScreeningEvents = {
  decided(decision: Decision): void
  /** Null if no answering-machine detection runs. */
  observer: CallerObserver | null
}
export type Screening = MediaSink & {
  /** Says nothing more and ignores further words. The transport stays open. */
  close(): void
}
