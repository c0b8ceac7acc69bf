import type { Tenant } from '../records/organization.ts'
import type { EndReason } from '../records/states/call.ts'

/**
 * Tells one process's view of whether a person can join. `isHere` is true if this process has the call and its
 * conversation goes on. `nodeUrl` is the machine's address, or null if it has only the public address.
 */
export type JoinState = { isHere: boolean; isFull: boolean; nodeUrl: string | null }

/** Reaches calls in this process and in others. */
export interface LiveCalls {
  /** Null if the call's process cannot be reached. */
  joinState(tenant: Tenant, callId: string): Promise<JoinState | null>
  /** Null if the call's process cannot be reached, or no process holds the call. */
  end(
    tenant: Tenant,
    callId: string,
    reason: EndReason,
    clientReason?: string,
  ): Promise<'ending' | 'already_ended' | null>
}
