/** Sends commands to the process that owns a call, from any process with the same database. */
import type { LegEvent, LineName } from '../../ports/phone-line.ts'
import type { Tenant } from '../../records/organization.ts'
import type { EndReason } from '../../records/states/call.ts'
import type { TransferAnswer, TransferCommand } from '../../records/transfer.ts'
import type { JoinState } from '../live-calls.ts'

export type CallCommand =
  | { kind: 'end'; reason: EndReason; clientReason?: string }
  | { kind: 'joinState' }
  /** An event on a leg, sent by the process that received it from the carrier or SIP trunk. */
  | { kind: 'legEvent'; legId: string; line: LineName; event: LegEvent }
  | { kind: 'transfer'; command: TransferCommand }
/**
 * The owning process's answer to a command. Null if the command asks for no answer. The JSON must be smaller than 8,000
 * bytes, the limit for a database notification.
 */
export type CallAnswer = JoinState | TransferAnswer | null

export interface CallCommands {
  /**
   * Resolves when the call's owner has accepted the command. Resolves with null if the owner does not accept it within
   * `commandMs`: then the command is deleted. `answer` is null if the command asks for no answer, or if the answer is
   * lost.
   */
  send(tenant: Tenant, callId: string, ownerId: string, command: CallCommand): Promise<{ answer: CallAnswer } | null>
  /** Begins to run the commands addressed to this process. */
  listen(run: RunCallCommand): Promise<void>
}

export type RunCallCommand = (tenant: Tenant, callId: string, command: CallCommand) => CallAnswer | Promise<CallAnswer>

/** The call's owning process must accept a command within this time. */
export const commandMs = 5000
/**
 * The call's owning process must answer within this time after accepting a command. A transfer may dial ten numbers, 5
 * s each.
 */
export const answerMs = 60_000
