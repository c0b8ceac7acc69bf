import type { LedgerAttempt } from '../../domain/billing/ledger.ts'
import type { RequestRoute, RequestRoutes } from '../../domain/billing/request-route.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { RequestAttempt, RequestOutcome } from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { codeOfOutcome } from '../faults/table.ts'
import { wirePreview } from '../views/preview.ts'
import { moneyOf } from './money.ts'
import { timeOf } from './times.ts'

export function getRequestRoute(routes: RequestRoutes): PlatformHandlers<Caller>['getRequestRoute'] {
  return async ({ path }, { caller }) => {
    const route = await routes.find(tenantOf(caller), path.id)
    if (route) return { status: 200, body: { ...outcomeOf(route), ...wirePreview(route.choice) } }
    throw new Refusal('not_found', {
      message: 'This organization has sent no such request to a provider, or its choice is no longer kept.',
      hint: 'The id is in Service-Request-ID. A request is here a moment after it has ended.',
    })
  }
}

function outcomeOf(route: RequestRoute): RequestOutcome {
  return {
    request_id: route.requestId,
    operation: route.operation,
    outcome: codeOfOutcome(route.outcome),
    started_at: timeOf(route.startedAtMs),
    duration_ms: route.durationMs,
    first_byte_ms: route.firstByteMs,
    cost_micro_usd: moneyOf(route.costMicroUsd),
    attempts: route.attempts.map(attemptOf),
  }
}

export function attemptOf(attempt: LedgerAttempt): RequestAttempt {
  return {
    attempt_id: attempt.attemptId,
    provider: attempt.provider,
    model: attempt.model,
    outcome: attempt.outcome,
    started_at: timeOf(attempt.startedAtMs),
    duration_ms: attempt.durationMs,
    first_byte_ms: attempt.firstByteMs,
    quantities: attempt.quantities.map(({ unit, amount }) => ({ unit, amount })),
    cost_micro_usd: moneyOf(attempt.costMicroUsd),
    priced: attempt.costMicroUsd !== null,
    price_source: attempt.priceSource,
    key_source: attempt.keySource,
  }
}
