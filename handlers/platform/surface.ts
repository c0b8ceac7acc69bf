/** The platform surface, on which an organization administers itself. */
import type { Caller } from '../../domain/access/organization.ts'
import type { RequestRoutes } from '../../domain/billing/request-route.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { type PlatformHandlers, widenPlatformHandlers } from '../../generated/platform/handlers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { OpenapiDocument } from '../../generated/platform/types.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { serveContract } from '../contract.ts'
import { mountOf, type SurfaceSettings } from '../surface.ts'
import { createPlatformFaultWriter } from './faults.ts'
import {
  deleteProviderKey,
  listKnownProviders,
  listProviders,
  type ProvidersDeps,
  putProviderKey,
} from './providers.ts'
import { getRequestRoute } from './request-route.ts'

export type PlatformDeps = ProvidersDeps & { requestRoutes: RequestRoutes }

export function mountPlatform(settings: SurfaceSettings, deps: PlatformDeps): Mount {
  return {
    ...mountOf(settings),
    surface: platformSurface,
    handlers: widenPlatformHandlers(handlersOf(settings, deps)),
    writeFault: createPlatformFaultWriter(settings.log, settings.count),
  }
}

function handlersOf(settings: SurfaceSettings, deps: PlatformDeps): PlatformHandlers<Caller> {
  return {
    getPlatformContract: serveContract<OpenapiDocument>(platformContract, settings),
    listProviders: listProviders(deps),
    putProviderKey: putProviderKey(deps),
    deleteProviderKey: deleteProviderKey(deps),
    listKnownProviders: listKnownProviders(deps),
    getRequestRoute: getRequestRoute(deps.requestRoutes),
  }
}
