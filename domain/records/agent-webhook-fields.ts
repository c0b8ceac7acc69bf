/** The deprecated webhook fields of an agent, as they are sent and as they are stored. */
import type { Endpoint, EndpointSecrets, ExtractionField, LegacyField, WantedHeader } from './webhook-endpoint.ts'

/** The endpoints of an agent by its fields. */
export type AgentWebhooks = Partial<Record<LegacyField, Endpoint>>

export type WantedWebhook = {
  url: string
  /** One that is left out is the stored one. null: the secret of the organization. */
  secret?: string | null
  headers?: Record<string, string> | null
  authHeaders?: WantedHeader[] | null
  timeoutMs?: number | null
  extractionFields?: ExtractionField[] | null
}

/** A field that is null or left out has no endpoint. */
export type WantedWebhooks = { [Field in LegacyField]?: WantedWebhook | null }

/** `secrets` opens what is sealed. */
export type StoredWebhooks = { endpoints: AgentWebhooks; secrets: (endpoint: Endpoint) => EndpointSecrets }
