import type { LedgerAttempt } from '../../domain/billing/ledger.ts'
import type { RequestRoute, RequestRoutes } from '../../domain/billing/request-route.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Preview } from '../../domain/routing/choice.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'

type Row = Omit<RequestRoute, 'choice' | 'attempts' | 'startedAtMs'> & { choice: Preview | null; startedAt: Date }
type AttemptRow = Omit<LedgerAttempt, 'startedAtMs'> & { startedAt: Date }

export function createRequestRoutes(tenancy: Tenancy): RequestRoutes {
  return {
    find: ({ organizationId, test }, requestId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [row] = await readRequest(tx, { organizationId, test }, requestId)
        if (!row?.choice) return null
        const attempts = await readAttempts(tx, organizationId, requestId)
        const { choice, startedAt, ...request } = row
        return { ...request, choice, startedAtMs: startedAt.getTime(), attempts: attempts.map(entryOf) }
      }),
  }
}

function readRequest(tx: Tx, { organizationId, test }: Tenant, requestId: string) {
  return tx<Row[]>`
    select r.request_id as "requestId", r.operation, r.outcome, r.started_at as "startedAt", r.duration_ms as "durationMs",
      r.first_byte_ms as "firstByteMs", r.cost_micro_usd as "costMicroUsd", c.explanation as choice
    from requests r left join choices c on c.organization_id = r.organization_id and c.id = r.choice_id
    where r.organization_id = ${organizationId} and r.request_id = ${requestId}
      and ${isOfWorld(tx, test)}
    order by r.started_at limit 1`
}

function readAttempts(tx: Tx, organizationId: string, requestId: string) {
  return tx<AttemptRow[]>`
    select attempt_id as "attemptId", provider, model, outcome, started_at as "startedAt", duration_ms as "durationMs",
      first_byte_ms as "firstByteMs", quantities, cost_micro_usd as "costMicroUsd", price_source as "priceSource",
      key_source as "keySource"
    from attempts where organization_id = ${organizationId} and request_id = ${requestId} order by number`
}

function entryOf({ startedAt, ...attempt }: AttemptRow): LedgerAttempt {
  return { ...attempt, startedAtMs: startedAt.getTime() }
}

/**
 * Returns SQL: true if the request `r` was made with a test key (`test` is true) or with a live key (`test` is false).
 * Rows from older versions have no value in `r.test`, so their API key decides.
 */
export function isOfWorld(tx: Tx, test: boolean) {
  return tx`coalesce(r.test,
    (select k.test from api_keys k where k.organization_id = r.organization_id and k.id = r.key_id), false) = ${test}`
}
