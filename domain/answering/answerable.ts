/** The methods of a conversation for the case that a machine answers its call. */
import type { EndReason } from '../records/states/call.ts'

export interface AnswerableConversation {
  /** Silences the agent, so that it answers no speech. If `isSilent` is false, the agent may talk again. */
  silence(isSilent: boolean): void
  /**
   * Says the whole `message`, even if the other party speaks, and ends the call. If `message` is null, the call ends at
   * once.
   */
  leave(reason: EndReason, message: string | null): void
  /** Ends the conversation and notifies the caller. A second call does nothing. */
  end(reason: EndReason, clientReason?: string): void
}
