/** Reads the targets for delivery attempts: many endpoints in one statement, with opened secrets. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import {
  type DeliveryTarget,
  type DeliveryTargets,
  type Endpoint,
  type EndpointSecrets,
  signingSecretsAt,
  timeoutMsOf,
} from '../../domain/records/webhook-endpoint.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { openSecrets, type SecretColumns } from './webhook-endpoint-rows.ts'
import { openSecret, type SecretRow, take } from './webhook-secrets.ts'

type EndpointRef = Tenant & { id: string }
type Target = EndpointRef &
  Pick<Endpoint, 'url' | 'headers' | 'authHeaders' | 'timeoutMs' | 'events'> & { isDisabled: boolean } & SecretColumns

/** The limits for lookups. `queueMax` is far above a dispatcher's number of attempts under way. */
const batches: BatchLimits = { rowsMax: 256, gatherMs: 0, idleGatherMs: 0, queueMax: 10_000 }

/** Makes the lookup for targets. `waiting` counts pending lookups. */
export function createDeliveryTargets(
  tenancy: Tenancy,
  sealer: () => Sealer,
  clock: Clock,
): DeliveryTargets & { waiting(): number } {
  /**
   * Returns a function for each target, so the calling code opens each target's secrets itself. If one secret cannot be
   * decrypted, the other lookups must not fail.
   */
  function read(refs: readonly EndpointRef[]): Promise<(() => DeliveryTarget | null)[]> {
    return tenancy.asOperator(async (tx) => {
      const targets = await readTargets(tx, refs)
      const workspace = await readWorkspace(tx, sealer, clock, targets)
      return refs.map((ref) => {
        const row = targets.find((target) => isSame(target, ref))
        return () => (row ? targetOf(sealer, row, workspace, clock.nowMs()) : null)
      })
    })
  }
  const lookups = createBatcher(read, batches)
  return {
    waiting: () => lookups.waiting(),
    deliveryTarget: async ({ organizationId, test }, id) => (await lookups.add({ organizationId, test, id }))(),
  }
}

function isSame(a: EndpointRef, b: EndpointRef): boolean {
  return a.id === b.id && a.organizationId === b.organizationId && a.test === b.test
}

function readTargets(tx: Tx, refs: readonly EndpointRef[]): Promise<Target[]> {
  return tx<Target[]>`
    select e.organization_id as "organizationId", e.test, e.id, e.url, e.headers, e.auth_headers as "authHeaders",
      e.timeout_ms as "timeoutMs", e.events, e.disabled_at is not null as "isDisabled", e.secrets_id as "secretsId",
      e.sealed as bytes, e.sealed_by as "sealedBy"
    from json_to_recordset(${JSON.stringify(refs)}::text::json) as w ("organizationId" text, test boolean, id uuid)
    join webhook_endpoints e on e.organization_id = w."organizationId" and e.test = w.test and e.id = w.id`
}

/** Reads the webhook secrets for these endpoints' organizations. If an organization has no secret yet, it is made. */
async function readWorkspace(
  tx: Tx,
  sealer: () => Sealer,
  clock: Clock,
  targets: readonly Target[],
): Promise<ReadonlyMap<string, SecretRow>> {
  const ids = [...new Set(targets.map(({ organizationId }) => organizationId))].sort()
  const rows = await tx<SecretRow[]>`
    select s.organization_id as "organizationId", s.id, s.sealed as bytes, s.sealed_by as "sealedBy"
    from json_array_elements_text(${JSON.stringify(ids)}::text::json) as w (id)
    join webhook_secrets s on s.organization_id = w.id`
  const secretRows = new Map(rows.map((row) => [row.organizationId, row]))
  for (const id of ids) if (!secretRows.has(id)) secretRows.set(id, await take(tx, sealer, clock, id))
  return secretRows
}

function targetOf(
  sealer: () => Sealer,
  row: Target,
  workspace: ReadonlyMap<string, SecretRow>,
  nowMs: number,
): DeliveryTarget {
  const secrets = openSecrets(sealer, row, row)
  return {
    url: row.url,
    headers: row.headers,
    authHeaders: Object.fromEntries(row.authHeaders.map((name) => [name, valueOf(secrets, name)])),
    timeoutMs: timeoutMsOf(row),
    isDisabled: row.isDisabled,
    signingSecrets: signingSecretsAt(secrets.signing ?? ofWorkspace(sealer, workspace.get(row.organizationId)), nowMs),
  }
}

function ofWorkspace(sealer: () => Sealer, row: SecretRow | undefined) {
  if (row === undefined) throw new Error('an organization has no webhook secret')
  return openSecret(sealer, row)
}

function valueOf({ authHeaders }: EndpointSecrets, name: string): string {
  return authHeaders[name.toLowerCase()] ?? ''
}
