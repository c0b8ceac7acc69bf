import type { Tenant } from '../records/organization.ts'
import type { EndReason } from '../records/states/call.ts'

/**
 * States if a person can join a call, from one process's view. `isHere` is true if this process has the call and its
 * conversation goes on. `isHandedOver` is true if the caller talks to a transfer's recipient without the agent.
 * `nodeUrl` is this machine's separate URL. It is null if the machine has only the shared public address.
 */
export type JoinState = { isHere: boolean; isFull: boolean; isHandedOver: boolean; nodeUrl: string | null }

/** Reaches calls in this process and in others. */
export interface LiveCalls {
  /** Resolves with null if the call's process cannot be reached. */
  joinState(tenant: Tenant, callId: string): Promise<JoinState | null>
  /** Ends a call. Resolves with null if the call's process cannot be reached, or if no process has the call. */
  end(
    tenant: Tenant,
    callId: string,
    reason: EndReason,
    clientReason?: string,
  ): Promise<'ending' | 'already_ended' | null>
}
