import type { Reports } from '../../domain/calls/reports.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { wireReport } from './call-wire.ts'

export function finalizeCallReport(reports: Reports): PlatformHandlers<Caller>['finalizeCallReport'] {
  return async ({ path: { id }, body }, { caller }) => {
    const options = { isForced: body?.forceAnalysis === true, retriesWebhook: body?.retryWebhook === true }
    const whole = await reports.finalize(tenantOf(caller), id, options)
    const report = wireReport(whole)
    const { session_id, summary, outcome, cost_micro_usd, cost_complete, webhook_deliveries } = report
    const webhook = {
      status: report.post_call_webhook_status,
      attempts: report.post_call_webhook_attempts,
      endpoints: whole.deliveries.endpoints,
    }
    return {
      status: 200,
      body: { session_id, summary, outcome, cost_micro_usd, cost_complete, webhook, webhook_deliveries },
    }
  }
}
