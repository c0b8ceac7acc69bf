/** The side of a conversation that is used if a machine answers its call. */
import type { EndReason } from '../records/states/call.ts'

export interface AnswerableConversation {
  /** If true, the agent stops and answers no speech. If false, it may talk again. */
  silence(isSilent: boolean): void
  /**
   * The agent says the whole `message`, even if the other party speaks, and ends the call. If null, it says nothing.
   */
  leave(reason: EndReason, message: string | null): void
  /** Ends the conversation and notifies the caller. Repeating this does nothing. */
  end(reason: EndReason, clientReason?: string): void
}
