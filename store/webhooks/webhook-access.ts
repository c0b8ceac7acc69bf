import type { Clock } from '../../domain/ports/system.ts'
import type { EndpointStore } from '../../domain/records/webhook-endpoint-store.ts'
import type { WorkspaceSecrets } from '../../domain/webhooks/workspace-secret.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { createEndpointStore } from './webhook-endpoints.ts'
import { createWorkspaceSecrets } from './webhook-secrets.ts'
import { createDeliveryTargets } from './webhook-targets.ts'

export type WebhookAccess = {
  webhookEndpoints: EndpointStore
  webhookSecrets: WorkspaceSecrets
  webhookTargets: ReturnType<typeof createDeliveryTargets>
}

/** Makes the stores for webhooks' receivers and for the secrets that sign the webhooks. */
export function createWebhookAccess(worlds: Worlds & Tenancy, sealer: () => Sealer, clock: Clock): WebhookAccess {
  return {
    webhookEndpoints: createEndpointStore(worlds, sealer),
    webhookSecrets: createWorkspaceSecrets(worlds, sealer, clock),
    webhookTargets: createDeliveryTargets(worlds, sealer, clock),
  }
}
