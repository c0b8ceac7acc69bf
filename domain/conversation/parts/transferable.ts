/** The side of a conversation that a transfer of its call uses. */
import type { HoldTone } from '../../../audio/hold-tones.ts'
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'

export interface TransferableConversation {
  /** Its last words are said, or it is over: it cannot be put on hold any more. */
  readonly isEnding: boolean
  /**
   * The agent ends its sentence and is silent. Then the caller receives the sound alone, nobody receives the caller, and
   * `held` is called once. False: the conversation is ending.
   */
  hold(sound: HoldSound, held: () => void): boolean
  /** The caller is with the agent again; `held` is not called any more. */
  resume(after: AfterHold): void
  /** The caller talks to somebody else over the line, so the agent leaves. The record ends when the call does. */
  handOver(): void
  /** The organization has no credit: the call ends after the sentence under way. */
  creditGone(): void
  /** The voice of the agent says `text` to somebody else, who decides whether they take the call. */
  screen(text: string, media: MediaTransport, events: ScreeningEvents): Screening
}

/** The turns that a transfer leaves in the transcript; one that failed leaves the note of its `AfterHold` instead of `done`. */
export const transferNotes = {
  begun: 'The caller is on hold while the call is transferred.',
  done: 'The call was transferred.',
} as const

export type HoldSound = {
  tone: HoldTone
  /** Replaces the tone as soon as it is there. It never rejects; null: the tone goes on. */
  audio: ((rateHz: number) => Promise<Int16Array | null>) | null
}

export type AfterHold = {
  /** For the transcript, and for the agent. */
  note: string
  /** Spoken by the agent. Null: the LLM finds words, for the reason that `hint` gives it. */
  message: string | null
  hint: string
  /** The call ends after the message. */
  endsCall: boolean
}

export type Decision = 'accepted' | 'declined'
export type ScreeningEvents = {
  decided(decision: Decision): void
  /** Null: nobody asks whether a machine answers. */
  observer: CallerObserver | null
}
export type Screening = MediaSink & {
  /** Nothing more is said, and no words decide any more. The transport stays open. */
  close(): void
}
