import type { Tenant } from '../records/organization.ts'
import type { EndReason } from '../records/states/call.ts'

/**
 * How a person can join a call, as one process sees it. `isHere`: it has the call, whose conversation goes on. `nodeUrl` is
 * the address of its machine; null where it has none but the public one.
 */
export type JoinState = { isHere: boolean; isFull: boolean; nodeUrl: string | null }

/** Reaches the calls that a process holds, in this process and in others. */
export interface LiveCalls {
  /** Null: the process that holds the call cannot be reached. */
  joinState(tenant: Tenant, callId: string): Promise<JoinState | null>
  /** Null: the process that holds the call cannot be reached, or none holds it. */
  end(
    tenant: Tenant,
    callId: string,
    reason: EndReason,
    clientReason?: string,
  ): Promise<'ending' | 'already_ended' | null>
}
