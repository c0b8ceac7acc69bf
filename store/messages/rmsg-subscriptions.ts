/** Subscriptions to rich-message events. Every statement reads or writes one organization's live or test rows. */
import { createHash } from 'node:crypto'
import type { Tenant } from '../../domain/records/organization.ts'
import type { SigningSecret } from '../../domain/records/webhook-endpoint.ts'
import type { Subscription, SubscriptionStore } from '../../domain/rmsg/subscriptions.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Worlds } from '../postgres/tenant.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'

type Row = Tenant & { id: string; url: string; tags: Record<string, string>; updatedAt: Date } & SecretColumns
type Columns = { secretsId: string; bytes: Buffer; sealedBy: string }
type SecretColumns = Columns | { [Name in keyof Columns]: null }

export function createSubscriptionStore(worlds: Worlds, sealer: () => Sealer): SubscriptionStore {
  return {
    list: (tenant) => worlds.asTenant(tenant, async (tx) => (await read(tx, tenant)).map(subscriptionOf)),
    targets: (tenant) =>
      worlds.asTenant(tenant, async (tx) =>
        (await read(tx, tenant)).map((row) => {
          const { id, url, tags } = row
          return { id, url, tags, signing: openSecret(sealer, row) }
        }),
      ),
    put: (draft, signing, subscriptionsMax) =>
      worlds.asTenant(draft, async (tx) => {
        // The lock serializes changes. Otherwise two transactions could both see room for one more subscription.
        await tx`select from organizations where id = ${draft.organizationId} for no key update`
        const digest = digestOf(draft.url)
        const rows = await read(tx, draft)
        const [stored] = await read(tx, draft, digest)
        if (!stored && rows.length >= subscriptionsMax) return 'limit_reached'
        const subscription = { ...draft, id: stored?.id ?? draft.id }
        const secret = signing(stored ? openSecret(sealer, stored) : null)
        await write(tx, subscription, digest, sealSecret(sealer, subscription, secret))
        const signingSecretSource = secret === null ? ('organization' as const) : ('custom' as const)
        return { subscription: { ...subscription, signingSecretSource }, isNew: !stored }
      }),
    remove: async (tenant, id) => {
      if (!isUuid(id)) return false
      return worlds.asTenant(tenant, async (tx) => {
        const { count } = await tx`delete from rmsg_subscriptions ${ofTenant(tx, tenant)} and id = ${id}`
        return count > 0
      })
    },
    removeAll: (tenant) =>
      worlds.asTenant(tenant, async (tx) => void (await tx`delete from rmsg_subscriptions ${ofTenant(tx, tenant)}`)),
  }
}

/** Returns equal digests for two spellings of one URL, such as another case in the host (WHATWG URL). */
function digestOf(url: string): Buffer {
  return createHash('sha256').update(new URL(url).href).digest()
}

const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`where organization_id = ${organizationId} and test = ${test}`

function read(tx: Tx, tenant: Tenant, digest: Buffer | null = null): Promise<Row[]> {
  return tx<Row[]>`
    select organization_id as "organizationId", test, id, url, tags, secrets_id as "secretsId", sealed as bytes,
      sealed_by as "sealedBy", updated_at as "updatedAt"
    from rmsg_subscriptions ${ofTenant(tx, tenant)} ${digest ? tx`and url_digest = ${digest}` : tx``}
    order by created_at desc, id desc`
}

function subscriptionOf({ organizationId, test, id, url, tags, bytes, updatedAt }: Row): Subscription {
  const signingSecretSource = bytes === null ? 'organization' : 'custom'
  return { organizationId, test, id, url, tags, signingSecretSource, updatedAtMs: updatedAt.getTime() }
}

async function write(
  tx: Tx,
  { organizationId, test, id, url, tags, updatedAtMs }: Omit<Subscription, 'signingSecretSource'>,
  digest: Buffer,
  secret: SecretColumns,
): Promise<void> {
  const now = new Date(updatedAtMs)
  await tx`
    insert into rmsg_subscriptions (organization_id, test, id, url, url_digest, tags, secrets_id, sealed, sealed_by,
      created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${url}, ${digest}, ${JSON.stringify(tags)}::text::json, ${secret.secretsId},
      ${secret.bytes}, ${secret.sealedBy}, ${now}, ${now})
    on conflict (organization_id, test, id) do update set url = excluded.url, tags = excluded.tags,
      secrets_id = excluded.secrets_id, sealed = excluded.sealed, sealed_by = excluded.sealed_by,
      updated_at = excluded.updated_at`
}

function sealSecret(sealer: () => Sealer, of: Place, secret: SigningSecret | null): SecretColumns {
  if (secret === null) return { secretsId: null, bytes: null, sealedBy: null }
  const secretsId = `secret_${uniqueId()}`
  return { secretsId, ...sealer().seal(JSON.stringify(secret), placeOf({ ...of, secretsId })) }
}

function openSecret(sealer: () => Sealer, row: Row): SigningSecret | null {
  const { secretsId, bytes, sealedBy } = row
  if (bytes === null) return null
  return JSON.parse(sealer().open({ bytes, sealedBy }, placeOf({ ...row, secretsId }))) as SigningSecret
}

type Place = { organizationId: string; id: string }

/**
 * Names the row to which a sealed secret is bound. Its id serves as a version: if an older secret is put back into the
 * row, it cannot be decrypted.
 */
function placeOf({ organizationId, id, secretsId }: Place & { secretsId: string }): string[] {
  return ['rich-message subscription', organizationId, id, secretsId]
}

type SealedRow = Sealed & Place & { test: boolean; secretsId: string }

/** Lets reseal.ts seal the subscriptions' secrets again after a change of the master key. */
export const sealedSubscriptions: SealedTable<SealedRow> = {
  table: 'rmsg_subscriptions',
  start: {
    ...{ organizationId: '', test: false, id: '00000000-0000-0000-0000-000000000000', secretsId: '' },
    ...{ bytes: Buffer.alloc(0), sealedBy: '' },
  },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SealedRow[]>`
    select organization_id as "organizationId", test, id, secrets_id as "secretsId", sealed as bytes, sealed_by as "sealedBy"
    from rmsg_subscriptions
    where (organization_id, test, id) > (${after.organizationId}, ${after.test}, ${after.id})
      and sealed_by = any(${names}::text[])
    order by organization_id, test, id limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, test, id }, { bytes, sealedBy }) => tx`
    update rmsg_subscriptions set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and test = ${test} and id = ${id}`,
}
