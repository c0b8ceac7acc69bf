import type { Tenant } from '../access/organization.ts'
import type { EndReason } from './states.ts'

/** `nodeUrl` is the address of the machine that holds the call; null where it has none but the public one. */
export type CallRoom = { isOver: boolean; isFull: boolean; nodeUrl: string | null }

/** Reaches the calls that a process holds, in this process and in others. */
export interface LiveCalls {
  /** How a person can join the call. Null: the process that holds the call cannot be reached. */
  room(tenant: Tenant, callId: string): Promise<CallRoom | null>
  /** Null: the process that holds the call cannot be reached, or none holds it. */
  end(tenant: Tenant, callId: string, reason: EndReason, note?: string): Promise<'ending' | 'already_ended' | null>
}
