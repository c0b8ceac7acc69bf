import type { Caller } from '../../domain/access/organization.ts'
import type { RequestRoutes } from '../../domain/routing/request-route.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { OpenapiDocument } from '../../generated/platform/types.ts'
import { serveContract } from '../contract.ts'
import {
  createDeleteProviderKey,
  createListKnownProviders,
  createListProviders,
  createPutProviderKey,
  type ProvidersDeps,
} from './providers.ts'
import { createGetRequestRoute } from './request-route.ts'

export type PlatformDeps = ProvidersDeps & { requestRoutes: RequestRoutes; contract: string; headerPrefix: string }

export function createPlatformHandlers(deps: PlatformDeps): PlatformHandlers<Caller> {
  return {
    getPlatformContract: serveContract<OpenapiDocument>(deps.contract, deps.headerPrefix),
    listProviders: createListProviders(deps),
    putProviderKey: createPutProviderKey(deps),
    deleteProviderKey: createDeleteProviderKey(deps),
    listKnownProviders: createListKnownProviders(deps),
    getRequestRoute: createGetRequestRoute(deps.requestRoutes),
  }
}
