import type { Tenant } from '../records/organization.ts'
import type { Preview } from '../routing/choice.ts'
import type { LedgerAttempt } from './ledger.ts'

/** Where a request went, and why: the choice as it was when it was made, and what became of it. */
export type RequestRoute = {
  requestId: string
  operation: string
  /** `succeeded`, or the code of the error. */
  outcome: string
  startedAtMs: number
  durationMs: number
  /** From the start of the request; null where no media came, or the answer came at once. */
  firstByteMs: number | null
  costMicroUsd: number | null
  choice: Preview
  /** In the order made. */
  attempts: LedgerAttempt[]
}

export interface RequestRoutes {
  /** Null: no key of this organization and world made such a request, it is still under way or was never sent, or its choice is no longer kept. */
  find(tenant: Tenant, requestId: string): Promise<RequestRoute | null>
}
