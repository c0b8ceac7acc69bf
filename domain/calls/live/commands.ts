/** Sends commands to a call's process, from any process with the same database. */
import type { LegEvent, LineName } from '../../ports/phone-line.ts'
import type { Tenant } from '../../records/organization.ts'
import type { EndReason } from '../../records/states/call.ts'
import type { TransferAnswer, TransferCommand } from '../../records/transfer.ts'
import type { JoinState } from '../live-calls.ts'

export type CallCommand =
  | { kind: 'end'; reason: EndReason; clientReason?: string }
  | { kind: 'joinState' }
  /** A leg event, when the line reported it to another process. */
  | { kind: 'legEvent'; legId: string; line: LineName; event: LegEvent }
  | { kind: 'transfer'; command: TransferCommand }
/** Null if the command asks nothing. Its JSON is smaller than the 8,000 bytes of a database notification. */
export type CallAnswer = JoinState | TransferAnswer | null

export interface CallCommands {
  /**
   * Resolves when the owner has taken the command. Null if the owner does not take it within `commandMs`: the command
   * is then withdrawn. `answer` is also null if the answer is lost.
   */
  send(tenant: Tenant, callId: string, ownerId: string, command: CallCommand): Promise<{ answer: CallAnswer } | null>
  /** Runs the commands for this process. */
  listen(run: RunCallCommand): Promise<void>
}

export type RunCallCommand = (tenant: Tenant, callId: string, command: CallCommand) => CallAnswer | Promise<CallAnswer>

/** The owner must take a command within this time. */
export const commandMs = 5000
/** The owner must answer within this time after taking a command. A transfer may dial ten numbers, 5 s each. */
export const answerMs = 60_000
