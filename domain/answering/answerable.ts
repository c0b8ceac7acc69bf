/** The conversation's methods that answering machine detection calls. */
import type { EndReason } from '../records/states/call.ts'

export interface AnswerableConversation {
  /** Silences the agent, so that it answers no speech. If `isSilent` is false, the agent may talk again. */
  silence(isSilent: boolean): void
  /**
   * Speaks the whole `message`, even if the other party interrupts, and then ends the call. If `message` is null, the
   * call ends at once.
   */
  leave(reason: EndReason, message: string | null): void
  /** Ends the conversation and the caller's leg. A second call does nothing. */
  end(reason: EndReason, clientReason?: string): void
}
