/** Reads and writes endpoints' rows, and opens and seals their secrets. */
import type { Tenant } from '../../domain/records/organization.ts'
import {
  type DisabledReason,
  type Endpoint,
  type EndpointSecrets,
  type LegacyField,
  noEndpointSecrets,
} from '../../domain/records/webhook-endpoint.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull, storable } from '../postgres/row-values.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'

export type EndpointRow = Omit<
  Endpoint,
  'legacy' | 'disabledAtMs' | 'disabledReason' | 'createdAtMs' | 'updatedAtMs'
> & {
  legacyAgentId: string | null
  legacyField: LegacyField | null
  disabledAt: Date | null
  disabledReason: DisabledReason | null
  createdAt: Date
  updatedAt: Date
}
type Columns = { secretsId: string; bytes: Buffer; sealedBy: string }
export type SecretColumns = Columns | { [Name in keyof Columns]: null }

export const endpointColumns = (tx: Tx) => tx`
  organization_id as "organizationId", test, id, name, url, events, all_agents as "allAgents", agent_ids as "agentIds",
  filter_tags as "filterTags", headers, auth_headers as "authHeaders", timeout_ms as "timeoutMs",
  signing_secret_source as "signingSecretSource", extraction_fields as "extractionFields",
  legacy_agent_id as "legacyAgentId", legacy_field as "legacyField", disabled_at as "disabledAt",
  disabled_reason as "disabledReason", created_at as "createdAt", updated_at as "updatedAt"`

export const secretColumns = (tx: Tx) => tx`secrets_id as "secretsId", sealed as bytes, sealed_by as "sealedBy"`

export const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`where organization_id = ${organizationId} and test = ${test}`

export function endpointOf(row: EndpointRow): Endpoint {
  const { legacyAgentId, legacyField, disabledAt, disabledReason, createdAt, updatedAt, ...same } = row
  return {
    ...same,
    legacy: legacyAgentId !== null && legacyField !== null ? { agentId: legacyAgentId, field: legacyField } : null,
    disabledAtMs: disabledAt?.getTime() ?? null,
    disabledReason,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  }
}

export async function insertEndpoint(tx: Tx, endpoint: Endpoint, secrets: SecretColumns): Promise<void> {
  const { organizationId, test, id, legacy } = endpoint
  await tx`
    insert into webhook_endpoints (organization_id, test, id, name, url, events, all_agents, agent_ids, filter_tags, headers,
      auth_headers, timeout_ms, signing_secret_source, extraction_fields, secrets_id, sealed, sealed_by, legacy_agent_id,
      legacy_field, disabled_at, disabled_reason, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${storable(endpoint.name)}, ${endpoint.url}, ${json(endpoint.events)}::text::jsonb,
      ${endpoint.allAgents}, ${json(endpoint.agentIds)}::text::jsonb, ${json(endpoint.filterTags)}::text::json,
      ${json(endpoint.headers)}::text::json, ${json(endpoint.authHeaders)}::text::json, ${endpoint.timeoutMs},
      ${endpoint.signingSecretSource}, ${json(endpoint.extractionFields)}::text::json, ${secrets.secretsId}, ${secrets.bytes},
      ${secrets.sealedBy}, ${legacy?.agentId ?? null}, ${legacy?.field ?? null}, ${dateOrNull(endpoint.disabledAtMs)},
      ${endpoint.disabledReason}, ${new Date(endpoint.createdAtMs)}, ${new Date(endpoint.updatedAtMs)})`
}

/** Writes a changed endpoint. If the endpoint was disabled, its recorded failures are cleared. */
export async function updateEndpoint(tx: Tx, endpoint: Endpoint, secrets: SecretColumns): Promise<void> {
  await tx`
    update webhook_endpoints set name = ${storable(endpoint.name)}, url = ${endpoint.url},
      events = ${json(endpoint.events)}::text::jsonb, all_agents = ${endpoint.allAgents},
      agent_ids = ${json(endpoint.agentIds)}::text::jsonb, filter_tags = ${json(endpoint.filterTags)}::text::json,
      headers = ${json(endpoint.headers)}::text::json, auth_headers = ${json(endpoint.authHeaders)}::text::json,
      timeout_ms = ${endpoint.timeoutMs}, signing_secret_source = ${endpoint.signingSecretSource},
      extraction_fields = ${json(endpoint.extractionFields)}::text::json, secrets_id = ${secrets.secretsId},
      sealed = ${secrets.bytes}, sealed_by = ${secrets.sealedBy}, disabled_at = ${dateOrNull(endpoint.disabledAtMs)},
      disabled_reason = ${endpoint.disabledReason}, updated_at = ${new Date(endpoint.updatedAtMs)},
      failing_since = case when disabled_at is null then failing_since end
    ${ofTenant(tx, endpoint)} and id = ${endpoint.id}`
}

const json = (value: unknown) => JSON.stringify(value)

export function sealSecrets(sealer: () => Sealer, endpoint: Endpoint, secrets: EndpointSecrets): SecretColumns {
  if (secrets.signing === null && Object.keys(secrets.authHeaders).length === 0)
    return { secretsId: null, bytes: null, sealedBy: null }
  const secretsId = `secret_${uniqueId()}`
  return { secretsId, ...sealer().seal(JSON.stringify(secrets), placeOf({ ...endpoint, secretsId })) }
}

export function openSecrets(
  sealer: () => Sealer,
  row: Pick<Endpoint, 'organizationId' | 'id'>,
  { secretsId, bytes, sealedBy }: SecretColumns,
): EndpointSecrets {
  if (bytes === null) return noEndpointSecrets
  return JSON.parse(sealer().open({ bytes, sealedBy }, placeOf({ ...row, secretsId }))) as EndpointSecrets
}

/**
 * Names the row to which sealed secrets are bound. Their id serves as a version: if older secrets are put back into the
 * row, they cannot be decrypted.
 */
function placeOf({
  organizationId,
  id,
  secretsId,
}: {
  organizationId: string
  id: string
  secretsId: string
}): string[] {
  return ['webhook endpoint', organizationId, id, secretsId]
}

type SealedRow = Sealed & { organizationId: string; test: boolean; id: string; secretsId: string }

/** Lets reseal.ts seal the endpoints' secrets again after a change of the master key. */
export const sealedEndpoints: SealedTable<SealedRow> = {
  table: 'webhook_endpoints',
  start: {
    organizationId: '',
    test: false,
    id: '00000000-0000-0000-0000-000000000000',
    secretsId: '',
    bytes: Buffer.alloc(0),
    sealedBy: '',
  },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SealedRow[]>`
    select organization_id as "organizationId", test, id, secrets_id as "secretsId", sealed as bytes, sealed_by as "sealedBy"
    from webhook_endpoints
    where (organization_id, test, id) > (${after.organizationId}, ${after.test}, ${after.id})
      and sealed_by = any(${names}::text[])
    order by organization_id, test, id limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, test, id }, { bytes, sealedBy }) => tx`
    update webhook_endpoints set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and test = ${test} and id = ${id}`,
}
