import { scopes } from '../domain/access/organization.ts'
import type { KeyAdministration } from './api-keys.ts'
import type { Sql, Tx } from './connect.ts'
import { readSecret } from './key-secret.ts'
import type { Organizations } from './organizations.ts'
import { everyOrganization, type Tenancy, transactionOfAll } from './tenant.ts'

/**
 * `created`: the store was empty. `known`: the key works already. `refused`: there are organizations, and this key
 * belongs to none of them.
 */
export type BootstrapOutcome = 'created' | 'known' | 'refused'

/** A million dollars, which a local run does not use up. */
const localCreditMicroUsd = 1_000_000_000_000
/** Any number that nothing else in the database takes as an advisory lock. */
const lock = 7_275_539_003

export type BootstrapRepositories = { organizations: Organizations; keys: KeyAdministration }

/**
 * On an empty store: makes an organization `local` that may do everything, with this key. Both are committed
 * together.
 */
export function bootstrap(
  sql: Sql,
  secret: string,
  repositoriesOn: (tenancy: Tenancy) => BootstrapRepositories,
): Promise<BootstrapOutcome> {
  const presented = readSecret(secret)
  if (!presented)
    throw new Error('The bootstrap key must be sk_live_ or sk_test_ and at least 24 characters without spaces.')
  return transactionOfAll(sql, everyOrganization, async (tenancy, tx) => {
    const found = await look(tx, presented)
    if (found !== 'empty') return found
    const { organizations, keys } = repositoriesOn(tenancy)
    const { id } = await organizations.create({
      name: 'local',
      creditMicroUsd: localCreditMicroUsd,
      maxConcurrency: null,
      smsEnabled: true,
      rmsgEnabled: true,
      recordingEnabled: true,
    })
    const { test } = presented
    await keys.create({ organizationId: id, name: 'bootstrap', scopes, test, policy: {}, expiresAtMs: null, secret })
    return 'created'
  })
}

/** If several processes start at once, one finds the store empty and the others wait here for its commit. */
async function look(
  tx: Tx,
  { lookup, digest }: { lookup: string; digest: Buffer },
): Promise<'known' | 'refused' | 'empty'> {
  await tx`select pg_advisory_xact_lock(${lock})`
  const [row] = await tx<{ occupied: boolean; known: boolean }[]>`
    select exists (select from organizations) as occupied,
      exists (select from api_keys where lookup = ${lookup} and digest = ${digest} and revoked_at is null) as known`
  if (row?.known) return 'known'
  return row?.occupied ? 'refused' : 'empty'
}
