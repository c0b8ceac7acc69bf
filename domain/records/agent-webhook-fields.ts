/** Describes an agent's deprecated webhook fields, as they are sent and as they are stored. */
import type { AuthHeaderInput, Endpoint, EndpointSecrets, ExtractionField, LegacyField } from './webhook-endpoint.ts'

/** An agent's endpoints by field. */
export type AgentWebhooks = Partial<Record<LegacyField, Endpoint>>

export type AgentWebhookInput = {
  url: string
  /** If left out, the stored secret stays. null selects the organization's secret. */
  secret?: string | null
  headers?: Record<string, string> | null
  authHeaders?: AuthHeaderInput[] | null
  timeoutMs?: number | null
  extractionFields?: ExtractionField[] | null
}

/** If a field is null or left out, it has no endpoint. */
export type AgentWebhookInputs = { [Field in LegacyField]?: AgentWebhookInput | null }

/** `secrets` unseals an endpoint's secrets. */
export type StoredWebhooks = { endpoints: AgentWebhooks; secrets: (endpoint: Endpoint) => EndpointSecrets }
