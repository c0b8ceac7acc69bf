/** Commands to the process that holds a call, from any process that serves from the same database. */
import type { LegEvent, LineName } from '../../ports/phone-line.ts'
import type { Tenant } from '../../records/organization.ts'
import type { EndReason } from '../../records/states/call.ts'
import type { TransferAnswer, TransferCommand } from '../../records/transfer.ts'
import type { JoinState } from '../live-calls.ts'

export type CallCommand =
  | { kind: 'end'; reason: EndReason; clientReason?: string }
  | { kind: 'joinState' }
  /** Something happened to a leg of the call, and the line said so to another process. */
  | { kind: 'legEvent'; legId: string; line: LineName; event: LegEvent }
  | { kind: 'transfer'; command: TransferCommand }
/** Null for a command that asks nothing. As JSON it is smaller than the 8,000 bytes of a notification. */
export type CallAnswer = JoinState | TransferAnswer | null

export interface CallCommands {
  /**
   * Resolves when the owner has taken the command. Null: it has not within `commandMs`, and the command is withdrawn. The
   * answer is null too if it is lost.
   */
  send(tenant: Tenant, callId: string, ownerId: string, command: CallCommand): Promise<{ answer: CallAnswer } | null>
  /** Runs the commands that come for this process. */
  listen(run: RunCallCommand): Promise<void>
}

export type RunCallCommand = (tenant: Tenant, callId: string, command: CallCommand) => CallAnswer | Promise<CallAnswer>

/** How long the owner of a call has to take a command. */
export const commandMs = 5000
/** A command that its owner has taken is answered by then: a transfer may dial ten numbers, 5 s each. */
export const answerMs = 60_000
