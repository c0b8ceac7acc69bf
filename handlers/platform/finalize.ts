import { type Caller, tenantOf } from '../../domain/access/organization.ts'
import type { Reports } from '../../domain/calls/reports.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { wireReport } from './call-wire.ts'

/** No webhooks are sent yet, so no delivery is retried. */
export function finalizeCallReport(reports: Reports): PlatformHandlers<Caller>['finalizeCallReport'] {
  return async ({ path: { id }, body }, { caller }) => {
    const report = wireReport(await reports.finalize(tenantOf(caller), id, body?.forceAnalysis === true))
    const { session_id, summary, outcome, cost_micro_usd, webhook_deliveries } = report
    const webhook = {
      status: report.post_call_webhook_status,
      attempts: report.post_call_webhook_attempts,
      endpoints: 0,
    }
    return { status: 200, body: { session_id, summary, outcome, cost_micro_usd, webhook, webhook_deliveries } }
  }
}
