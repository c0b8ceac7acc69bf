/** The interfaces between the turns and the other parts in a conversation. */
import type { Fault } from '../../records/fault.ts'
import type { Transcription } from '../hearing/transcription.ts'
import type { AgentTurnDeps } from './agent-turn.ts'
import type { TurnRecord } from './turn-record.ts'

export type TurnsEvents = {
  /** Called when the phase has changed. */
  moved(): void
  /** Called when the session cannot go on. */
  sessionLost(fault: Fault): void
  /** Called when the session is over. */
  finish(): void
  /** Called when the agent has ended the call. */
  agentHungUp(): void
  userSpoke(): void
}

export type TurnsDeps = AgentTurnDeps & {
  newId: () => string
  record: TurnRecord
  transcription: Pick<Transcription, 'flush' | 'forgetAudio' | 'readyMs'>
}
