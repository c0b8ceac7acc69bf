/**
 * Organizations' webhook secrets, sealed. Every statement names the organization. A secret is made at its first use.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../domain/ports/system.ts'
import { type SigningSecret, signingSecretsAt } from '../../domain/records/webhook-endpoint.ts'
import type { WorkspaceSecret, WorkspaceSecrets } from '../../domain/webhooks/workspace-secret.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { createLru } from '../caches/lru.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'

export type SecretRow = Sealed & { organizationId: string; id: string }

/** The limit for cached secrets, used while the database is unreachable. */
const rememberedMax = 1_000

export function createWorkspaceSecrets(tenancy: Tenancy, sealer: () => Sealer, clock: Clock): WorkspaceSecrets {
  const lastRead = createLru<SigningSecret>(rememberedMax)
  return {
    find: (organizationId) =>
      tenancy.asOrganization(organizationId, async (tx) =>
        shown(sealer, await take(tx, sealer, clock, organizationId), clock.nowMs()),
      ),
    async signingSecrets(organizationId) {
      try {
        const row = await tenancy.asOrganization(organizationId, (tx) => take(tx, sealer, clock, organizationId))
        lastRead.set(organizationId, openSecret(sealer, row))
      } catch (error) {
        if (lastRead.get(organizationId) === undefined) throw error
      }
      return signingSecretsAt(lastRead.get(organizationId) as SigningSecret, clock.nowMs())
    },
    rotate: (organizationId, overlapMs) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const { secret } = openSecret(sealer, await take(tx, sealer, clock, organizationId, true))
        const nowMs = clock.nowMs()
        const previous = overlapMs > 0 ? { secret, untilMs: nowMs + overlapMs } : null
        const row = sealedSecret(sealer, organizationId, { secret: newWebhookSecret(), previous })
        await tx`
          update webhook_secrets set id = ${row.id}, sealed = ${row.bytes}, sealed_by = ${row.sealedBy},
            created_at = ${new Date(nowMs)}
          where organization_id = ${organizationId}`
        return shown(sealer, { ...row, createdAt: new Date(nowMs) }, nowMs)
      }),
  }
}

type Row = SecretRow & { createdAt: Date }

/** Reads the secret, or makes it. If two transactions make a secret at once, both get the first stored secret. */
export async function take(
  tx: Tx,
  sealer: () => Sealer,
  clock: Clock,
  organizationId: string,
  locks = false,
): Promise<Row> {
  const [existing] = await tx<Row[]>`
    select ${columns(tx)} from webhook_secrets where organization_id = ${organizationId} ${locks ? tx`for update` : tx``}`
  if (existing) return existing
  const made = sealedSecret(sealer, organizationId, { secret: newWebhookSecret(), previous: null })
  // The update changes nothing. But without it Postgres would not return a row that another transaction has inserted.
  const [row] = await tx<Row[]>`
    insert into webhook_secrets (organization_id, id, sealed, sealed_by, created_at)
    values (${organizationId}, ${made.id}, ${made.bytes}, ${made.sealedBy}, ${new Date(clock.nowMs())})
    on conflict (organization_id) do update set organization_id = excluded.organization_id
    returning ${columns(tx)}`
  if (!row) throw new Error('an inserted secret was not returned')
  return row
}

export function openSecret(sealer: () => Sealer, row: SecretRow): SigningSecret {
  return JSON.parse(sealer().open(row, placeOf(row))) as SigningSecret
}

const secretBytes = 32

/** Makes a secret in the format of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}

function sealedSecret(sealer: () => Sealer, organizationId: string, secret: SigningSecret): SecretRow {
  const place = { organizationId, id: `secret_${uniqueId()}` }
  return { ...place, ...sealer().seal(JSON.stringify(secret), placeOf(place)) }
}

function shown(sealer: () => Sealer, row: Row, nowMs: number): WorkspaceSecret {
  const { secret, previous } = openSecret(sealer, row)
  const previousUntilMs = previous !== null && nowMs < previous.untilMs ? previous.untilMs : null
  return { secret, createdAtMs: row.createdAt.getTime(), previousUntilMs }
}

const columns = (tx: Tx) => tx`
  organization_id as "organizationId", id, sealed as bytes, sealed_by as "sealedBy", created_at as "createdAt"`

/**
 * Names the row to which a sealed secret is bound. Its id serves as a version: if an older secret is put back into the
 * row, it cannot be decrypted.
 */
function placeOf({ organizationId, id }: Pick<SecretRow, 'organizationId' | 'id'>): string[] {
  return ['webhook secret', organizationId, id]
}

/** Lets reseal.ts seal the webhook secrets again after a change of the master key. */
export const sealedWebhookSecrets: SealedTable<SecretRow> = {
  table: 'webhook_secrets',
  start: { organizationId: '', id: '', bytes: Buffer.alloc(0), sealedBy: '' },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SecretRow[]>`
    select organization_id as "organizationId", id, sealed as bytes, sealed_by as "sealedBy" from webhook_secrets
    where organization_id > ${after.organizationId} and sealed_by = any(${names}::text[])
    order by organization_id limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, id }, { bytes, sealedBy }) => tx`
    update webhook_secrets set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and id = ${id}`,
}
