/** The part of a conversation that transfers use. */
import type { HoldTone } from '../../../audio/hold-tones.ts'
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Decision } from '../words/decision-words.ts'

export interface TransferableConversation {
  /**
   * True if the agent has spoken its last words, or if the conversation is over. The caller cannot be put on hold any
   * more.
   */
  readonly isEnding: boolean
  /** True from the request for a hold until the hold's end or the hand-over. */
  readonly isTransferring: boolean
  /** True if the caller talks to another party without the agent. */
  readonly isHandedOver: boolean
  /**
   * Puts the caller on hold. The agent first ends its sentence. Then the caller receives only the sound, the caller's
   * audio is ignored, and `held` is called once. Returns false if the conversation is ending.
   */
  hold(sound: HoldSound, held: () => void): boolean
  /** Ends the hold: the agent talks to the caller again. `held` is then not called any more. */
  resume(after: AfterHold): void
  /**
   * Removes the agent, because the caller now talks to another party without it. The record stays open until the
   * call ends.
   */
  handOver(): void
  /** Ends the call after the current sentence, because the organization's credit is used up. */
  creditGone(): void
  /** Speaks `text` to another person in the agent's voice. The person decides whether to accept the call. */
  screen(text: string, media: MediaTransport, events: ScreeningEvents): Screening
}

/**
 * The notes that a transfer adds to the transcript. If the transfer fails, the note in its `AfterHold` replaces `done`.
 */
export const transferNotes = {
  begun: 'The caller is on hold while the call is transferred.',
  done: 'The call was transferred.',
} as const

export type HoldSound = {
  tone: HoldTone
  /** Makes the audio that replaces the tone when it is ready. Never rejects. If null, the tone goes on. */
  audio: ((rateHz: number) => Promise<Int16Array | null>) | null
}

export type AfterHold = {
  /** A note for the transcript and for the LLM. */
  note: string
  /** The agent speaks this text. If null, the LLM writes a text, with `hint` as the reason. */
  message: string | null
  hint: string
  /** True if the call ends after the message. */
  endsCall: boolean
}

export type ScreeningEvents = {
  decided(decision: Decision): void
  /** Receives the person's audio for answering-machine detection. Null if no detection runs. */
  observer: CallerObserver | null
}
export type Screening = MediaSink & {
  /** Stops speaking and ignores further words. The transport stays open. */
  close(): void
}
