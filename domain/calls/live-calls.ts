import type { Tenant } from '../access/organization.ts'
import type { EndReason } from './states.ts'

/** Reaches the calls that a process holds, in this process and in others. */
export interface LiveCalls {
  /** Null: the process that holds the call cannot be reached, or none holds it. */
  end(tenant: Tenant, callId: string, reason: EndReason, note?: string): Promise<'ending' | 'already_ended' | null>
}
