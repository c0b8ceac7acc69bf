/** Events that concern a whole conversation. Each part gets this object when it is made, and reports to it directly. */
import type { Fault } from '../../records/fault.ts'

export interface StageEvents {
  /**
   * Called when speech to text, the LLM or text to speech is lost: no provider has worked for 10 s, or the credit is
   * used up (see StageRetries). So the session cannot go on.
   */
  stageLost(fault: Fault): void
}

export interface ConversationEvents extends StageEvents {
  /**
   * Called when the phase has changed, when a dropped answer's tool has ended, and when an interrupted turn's played
   * part is known. Each may begin or end a silence.
   */
  activityChanged(): void
  /** Called when the user speaks, types or presses keys. */
  userSpoke(): void
  /** Called when the agent has said its last words, because the LLM has ended the call. */
  agentHungUp(): void
  /** Called when the last turn is recorded, so the session is over. */
  sessionOver(): void
}
