/** The interfaces between the turns and the other parts in a conversation. */
import type { Fault } from '../../records/fault.ts'
import type { Transcription } from '../hearing/transcription.ts'
import type { AgentTurnDeps } from './agent-turn.ts'
import type { TurnRecord } from './turn-record.ts'

export type TurnsEvents = {
  /** The phase has changed. */
  moved(): void
  /** The session cannot go on. */
  lost(fault: Fault): void
  /** The session is over. */
  finish(): void
  /** The agent has ended the call. */
  agentHungUp(): void
  userSpoke(): void
  /** Tools in the agent's turn run, or do not run any more. */
  toolsRun(isRunning: boolean): void
}

export type TurnsDeps = AgentTurnDeps & {
  newId: () => string
  record: TurnRecord
  transcription: Pick<Transcription, 'flush' | 'forgetAudio' | 'readyMs'>
}
