import type { Tenant } from '../records/organization.ts'
import type { Preview } from '../routing/choice.ts'
import type { LedgerAttempt } from './ledger.ts'

/** A request's route and its explanation: the choice at the time of the request, and the outcome. */
export type RequestRoute = {
  requestId: string
  operation: string
  /** `succeeded`, or the error's code. */
  outcome: string
  startedAtMs: number
  durationMs: number
  /** Measured from the request's start. Null if no media arrived, or if the whole answer arrived at once. */
  firstByteMs: number | null
  costMicroUsd: number | null
  choice: Preview
  /** The attempts at providers, by start time. */
  attempts: LedgerAttempt[]
}

export interface RequestRoutes {
  /**
   * Resolves with null if the tenant has no such request, if the request is still running or was never sent to a
   * provider, or if its choice was deleted.
   */
  find(tenant: Tenant, requestId: string): Promise<RequestRoute | null>
}
