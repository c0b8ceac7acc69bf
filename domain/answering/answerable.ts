/** The side of a conversation that is used when a machine has answered its call. */
import type { EndReason } from '../records/states/call.ts'

export interface AnswerableConversation {
  /** True: the agent stops, and answers nobody. False: it may talk again. */
  silence(isSilent: boolean): void
  /** The agent says `message` to its end, also when somebody speaks, and ends the call. Null: it says nothing. */
  leave(reason: EndReason, message: string | null): void
  /** Ends it, and says so to the caller. A second call does nothing. */
  end(reason: EndReason, clientReason?: string): void
}
