/** Commands to the process that holds a call, from any process that serves from the same database. */
import type { Tenant } from '../access/organization.ts'
import type { EndReason } from './states.ts'

export type CallCommand = { kind: 'end'; reason: EndReason; note?: string }

export interface CallCommands {
  /** Resolves when the owner has taken the command. False: it has not within `commandMs`, and the command is withdrawn. */
  send(tenant: Tenant, callId: string, ownerId: string, command: CallCommand): Promise<boolean>
  /** Runs the commands that come for this process. `run` answers whether it has the call. */
  serve(run: RunCallCommand): Promise<void>
}

export type RunCallCommand = (tenant: Tenant, callId: string, command: CallCommand) => boolean

/** How long the owner of a call has to take a command. */
export const commandMs = 5000
