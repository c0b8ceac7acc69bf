import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import { type Endpoint, timeoutMsOf } from '../../domain/records/webhook-endpoint.ts'
import type { DeliveryStore, DeliverySummary } from '../../domain/webhooks/delivery-store.ts'
import type { Endpoints } from '../../domain/webhooks/endpoints.ts'
import type { WorkspaceSecret, WorkspaceSecrets } from '../../domain/webhooks/workspace-secret.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Webhook, WebhookSecret } from '../../generated/platform/types.ts'
import { configuredHeader } from './auth-headers.ts'
import { timeOf, timeOrNull } from './times.ts'

type Handlers = PlatformHandlers<Caller>
export type WebhookOperation =
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'getWebhookSecret'
  | 'rotateWebhookSecret'

/** After a change of the secret, deliveries are signed with both the old and the new secret for a day by default. */
const overlapSecondsDefault = 86_400

export function webhookOperations(
  endpoints: Endpoints,
  secrets: WorkspaceSecrets,
  deliveries: Pick<DeliveryStore, 'summaries'>,
): Pick<Handlers, WebhookOperation> {
  const shownAll = async (caller: Caller, all: readonly Endpoint[]) => {
    const ids = all.map(({ id }) => id)
    const summaries = await deliveries.summaries(tenantOf(caller), ids)
    return all.map((endpoint) => wireWebhook(endpoint, summaries.get(endpoint.id)))
  }
  const shown = async (caller: Caller, endpoint: Endpoint) => {
    const summaries = await deliveries.summaries(tenantOf(caller), [endpoint.id])
    return wireWebhook(endpoint, summaries.get(endpoint.id))
  }
  return {
    createWebhook: async ({ body }, { caller }) => ({
      status: 201,
      body: await shown(caller, await endpoints.create(tenantOf(caller), body)),
    }),
    listWebhooks: async (_request, { caller }) => ({
      status: 200,
      body: { data: await shownAll(caller, await endpoints.list(tenantOf(caller))) },
    }),
    getWebhook: async ({ path }, { caller }) => ({
      status: 200,
      body: await shown(caller, await endpoints.get(tenantOf(caller), path.id)),
    }),
    updateWebhook: async ({ path, body }, { caller }) => ({
      status: 200,
      body: await shown(caller, await endpoints.change(tenantOf(caller), path.id, body)),
    }),
    deleteWebhook: async ({ path }, { caller }) => {
      await endpoints.remove(tenantOf(caller), path.id)
      return { status: 204 }
    },
    getWebhookSecret: async (_request, { caller }) => ({
      status: 200,
      body: wireSecret(await secrets.find(caller.organization.id)),
    }),
    rotateWebhookSecret: async ({ body }, { caller }) => {
      const overlapMs = (body?.overlapSeconds ?? overlapSecondsDefault) * 1000
      return { status: 200, body: wireSecret(await secrets.rotate(caller.organization.id, overlapMs)) }
    },
  }
}

/** Shows an endpoint. It contains no secret, because secrets are stored separately. */
function wireWebhook(endpoint: Endpoint, summary: DeliverySummary | undefined): Webhook {
  const { succeeded = 0, failed = 0, pending = 0 } = summary ?? {}
  return {
    id: endpoint.id,
    ...(endpoint.test && { test: true }),
    name: endpoint.name,
    url: endpoint.url,
    events: endpoint.events,
    allAgents: endpoint.allAgents,
    agentIds: endpoint.agentIds,
    filterTags: endpoint.filterTags,
    headers: endpoint.headers,
    authHeaders: endpoint.authHeaders.map(configuredHeader),
    timeoutMs: timeoutMsOf(endpoint),
    signingSecretSource: endpoint.signingSecretSource,
    hasCustomSigningSecret: endpoint.signingSecretSource === 'custom',
    extractionFields: endpoint.extractionFields,
    legacyManaged: endpoint.legacy !== null,
    disabled: endpoint.disabledAtMs !== null,
    disabledAt: timeOrNull(endpoint.disabledAtMs),
    disabledReason: endpoint.disabledReason,
    lastDelivery: summary
      ? { status: summary.status, httpStatus: summary.httpStatus, at: timeOf(summary.createdAtMs) }
      : null,
    last24h: { succeeded, failed, pending },
    createdAt: timeOf(endpoint.createdAtMs),
    updatedAt: timeOf(endpoint.updatedAtMs),
  }
}

function wireSecret({ secret, createdAtMs, previousUntilMs }: WorkspaceSecret): WebhookSecret {
  return { secret, createdAt: timeOf(createdAtMs), previousExpiresAt: timeOrNull(previousUntilMs) }
}
