/** Types for the deprecated webhook fields in an agent, as clients send them and as they are stored. */
import type { AuthHeaderInput, Endpoint, EndpointSecrets, ExtractionField, LegacyField } from './webhook-endpoint.ts'

/** An agent's endpoints by field. */
export type AgentWebhooks = Partial<Record<LegacyField, Endpoint>>

export type AgentWebhookInput = {
  url: string
  /**
   * The signing secret. If absent, the stored secret is kept. If null, the organization's secret signs the requests.
   */
  secret?: string | null
  headers?: Record<string, string> | null
  authHeaders?: AuthHeaderInput[] | null
  timeoutMs?: number | null
  extractionFields?: ExtractionField[] | null
}

/** A field set to null or absent has no endpoint. */
export type AgentWebhookInputs = { [Field in LegacyField]?: AgentWebhookInput | null }

/** `secrets` decrypts an endpoint's secrets. */
export type StoredWebhooks = { endpoints: AgentWebhooks; secrets: (endpoint: Endpoint) => EndpointSecrets }
