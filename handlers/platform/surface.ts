/** The platform API, with which an organization manages its resources, sessions and calls. */

import type { WatchGrant } from '../../domain/access/revocations.ts'
import type { Callbacks } from '../../domain/callbacks/callbacks.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { type PlatformHandlers, widenPlatformHandlers } from '../../generated/platform/handlers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { type AddressSettings, createNodeUrl, createPublicUrl } from '../public-url.ts'
import { mountOf, type SurfaceSettings } from '../surface.ts'
import { type AccessDeps, accessOperations } from './access-operations.ts'
import { type CallDeps, callOperations } from './call-operations.ts'
import { callbackOperations } from './callbacks.ts'
import { contractOperations } from './contracts.ts'
import { createPlatformFaultWriter } from './faults.ts'
import { type MessageOperationDeps, messageOperations } from './message-operations.ts'
import { type OrganizationDeps, organizationOperations } from './organization.ts'
import { type ProviderOperationDeps, providerOperations } from './provider-operations.ts'
import { createRepeatable, type RepeatableDeps } from './repeatable.ts'
import { type ResourceOperationDeps, resourceOperations } from './resource-operations.ts'
import { type SessionDeps, sessionOperations } from './session-operations.ts'
import { type WebhookDeliveryDeps, webhookDeliveryOperations } from './webhook-deliveries.ts'

export type PlatformDeps = ProviderOperationDeps &
  MessageOperationDeps &
  ResourceOperationDeps &
  OrganizationDeps &
  SessionDeps &
  AccessDeps & {
    watchGrant: WatchGrant
    repeats: Omit<RepeatableDeps, 'log'>
    webhooks: WebhookDeliveryDeps
    records: Omit<CallDeps, 'organizations'> & { callbacks: Callbacks }
    address: AddressSettings & { nodeUrl: string | null }
    /** Adapts requests and responses to the SDKs that the setting `clients` names. */
    adapt: (parts: PlatformParts) => PlatformParts
  }

export type PlatformParts = Pick<Mount, 'surface'> & { handlers: PlatformHandlers<Caller> }

export function mountPlatform(settings: SurfaceSettings, deps: PlatformDeps): Mount {
  const { surface, handlers } = deps.adapt({ surface: platformSurface, handlers: handlersOf(settings, deps) })
  return {
    ...mountOf(settings),
    surface,
    handlers: widenPlatformHandlers(handlers),
    writeFault: createPlatformFaultWriter(settings.log, settings.count),
  }
}

function handlersOf(settings: SurfaceSettings, deps: PlatformDeps): PlatformHandlers<Caller> {
  const publicUrlOf = createPublicUrl(deps.address)
  const nodeUrlOf = createNodeUrl(deps.address)
  const repeatable = createRepeatable({ ...deps.repeats, log: settings.log })
  const resources = resourceOperations(deps)
  const { organizations } = deps
  return {
    ...contractOperations(settings, publicUrlOf),
    ...organizationOperations(deps),
    ...accessOperations(deps),
    ...resources,
    purchasePhoneNumber: repeatable(resources.purchasePhoneNumber),
    ...sessionOperations(deps, nodeUrlOf, repeatable),
    ...callOperations({ ...deps.records, organizations }, publicUrlOf, repeatable, deps.watchGrant),
    ...callbackOperations(deps.records.callbacks),
    ...webhookDeliveryOperations(deps.webhooks, deps.watchGrant),
    ...messageOperations(deps, repeatable),
    ...providerOperations(deps),
  }
}
