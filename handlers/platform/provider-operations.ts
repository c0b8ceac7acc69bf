/** The operations on providers: their keys, models, voices and health, and the route of a request to them. */
import type { RequestRoutes } from '../../domain/billing/request-route.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { listProviderHealth, type ProviderHealthDeps } from './provider-health.ts'
import {
  checkProvider,
  deleteProviderKey,
  listKnownProviders,
  listProviders,
  listVoices,
  type ProvidersDeps,
  putProviderKey,
} from './providers.ts'
import { getRequestRoute } from './request-route.ts'

export type ProviderOperationDeps = ProvidersDeps & ProviderHealthDeps & { requestRoutes: RequestRoutes }

export function providerOperations(deps: ProviderOperationDeps) {
  return {
    listProviders: listProviders(deps),
    putProviderKey: putProviderKey(deps),
    deleteProviderKey: deleteProviderKey(deps),
    checkProvider: checkProvider(deps),
    listKnownProviders: listKnownProviders(deps),
    listVoices: listVoices(deps),
    listProviderHealth: listProviderHealth(deps),
    getRequestRoute: getRequestRoute(deps.requestRoutes),
  } satisfies Partial<PlatformHandlers<Caller>>
}
