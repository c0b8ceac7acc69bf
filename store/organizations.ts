import { type Organization, scopes } from '../domain/access/organization.ts'
import type { Clock } from '../domain/ports/system.ts'
import { uniqueId } from '../runtime/clock.ts'
import { insertKey } from './api-keys.ts'
import type { Sql, Tx } from './connect.ts'
import { readSecret, suppliedPublicId } from './key-secret.ts'
import { asOperator, asOrganization } from './tenant.ts'

export type OrganizationSettings = {
  name: string
  /** Null: no limit. */
  maxConcurrency: number | null
  smsEnabled: boolean
  rmsgEnabled: boolean
  recordingEnabled: boolean
}
export type OrganizationRecord = Organization & OrganizationSettings & { creditMicroUsd: number; createdAt: Date }

/** `created`: the store was empty. `known`: the key works already. `refused`: there are organizations, and this key is none of theirs. */
export type BootstrapOutcome = 'created' | 'known' | 'refused'

/** For the operator. Null: no such organization. */
export type Organizations = {
  create(settings: OrganizationSettings & { creditMicroUsd: number }): Promise<OrganizationRecord>
  list(): Promise<OrganizationRecord[]>
  /** May be negative. */
  addCredit(id: string, microUsd: number): Promise<OrganizationRecord | null>
  /** On an empty store: an organization `local` that may do everything, with this key. */
  bootstrap(options: { key: string }): Promise<BootstrapOutcome>
}

/** A million dollars: nobody at home runs out. */
const localCreditMicroUsd = 1_000_000_000_000
const bootstrapLock = 7_275_539_003

export function createOrganizations(sql: Sql, clock: Clock): Organizations {
  const now = () => new Date(clock.nowMs())
  return {
    create: (settings) => asOperator(sql, (tx) => insertOrganization(tx, settings, now())),
    list: () =>
      asOperator(
        sql,
        (tx) => tx<OrganizationRecord[]>`select ${columns(tx)} from organizations order by created_at, id`,
      ),
    addCredit: (id, microUsd) =>
      asOrganization(sql, id, async (tx) => {
        const [row] = await tx<OrganizationRecord[]>`
          update organizations set credit_micro_usd = credit_micro_usd + ${microUsd} where id = ${id} returning ${columns(tx)}`
        return row ?? null
      }),
    bootstrap: ({ key }) => asOperator(sql, (tx) => bootstrap(tx, key, now())),
  }
}

async function insertOrganization(
  tx: Tx,
  settings: OrganizationSettings & { creditMicroUsd: number },
  now: Date,
): Promise<OrganizationRecord> {
  const [row] = await tx<OrganizationRecord[]>`
    insert into organizations
      (id, name, max_concurrency, credit_micro_usd, sms_enabled, rmsg_enabled, recording_enabled, created_at)
    values (${`org_${uniqueId()}`}, ${settings.name}, ${settings.maxConcurrency}, ${settings.creditMicroUsd},
      ${settings.smsEnabled}, ${settings.rmsgEnabled}, ${settings.recordingEnabled}, ${now})
    returning ${columns(tx)}`
  if (!row) throw new Error('an inserted organization was not returned')
  return row
}

async function bootstrap(tx: Tx, secret: string, now: Date): Promise<BootstrapOutcome> {
  const presented = readSecret(secret)
  if (!presented)
    throw new Error('The bootstrap key must be sk_live_ or sk_test_ and at least 24 characters without spaces.')
  await tx`select pg_advisory_xact_lock(${bootstrapLock})`
  const [found] = await tx<{ any: boolean; known: boolean }[]>`
    select exists (select from organizations) as any,
      exists (select from api_keys where lookup = ${presented.lookup} and digest = ${presented.digest}
        and revoked_at is null) as known`
  if (found?.known) return 'known'
  if (found?.any) return 'refused'
  const everything = { maxConcurrency: null, smsEnabled: true, rmsgEnabled: true, recordingEnabled: true }
  const { id } = await insertOrganization(
    tx,
    { name: 'local', creditMicroUsd: localCreditMicroUsd, ...everything },
    now,
  )
  const key = { organizationId: id, name: 'bootstrap', scopes, test: presented.test, policy: {}, expiresAtMs: null }
  await insertKey(tx, key, secret, suppliedPublicId(secret), now)
  return 'created'
}

const columns = (tx: Tx) => tx`
  id, name, max_concurrency as "maxConcurrency", credit_micro_usd as "creditMicroUsd", sms_enabled as "smsEnabled",
  rmsg_enabled as "rmsgEnabled", recording_enabled as "recordingEnabled", created_at as "createdAt"`
