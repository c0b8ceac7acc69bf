/** The operation that shows the health of models. */
import type { ProviderKeyAdministration } from '../../domain/access/provider-keys.ts'
import type { HealthReports } from '../../domain/health/health-reports.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { timeOrNull } from './times.ts'

export type ProviderHealthDeps = { keys: ProviderKeyAdministration; health: HealthReports }

export function listProviderHealth(deps: ProviderHealthDeps): PlatformHandlers<Caller>['listProviderHealth'] {
  const { keys, health } = deps
  return async (_request, { caller: { organization, test } }) => {
    const ownKeys = test ? {} : await keys.list(organization.id)
    const models = await health.list(organization.id, ownKeys)
    return { status: 200, body: models.map(({ asOfMs, ...model }) => ({ ...model, asOf: timeOrNull(asOfMs) })) }
  }
}
