import type { KeyAdministration } from '../domain/access/api-keys.ts'
import { scopes, type Tenant } from '../domain/records/organization.ts'
import { uniqueId } from '../runtime/timing/clock.ts'
import { readSecret } from './access/key-secret.ts'
import type { Organizations } from './access/organizations.ts'
import { locks } from './postgres/advisory-locks.ts'
import type { Sql, Tx } from './postgres/connect.ts'
import { everyOrganization, type Tenancy, transactionOfAll } from './postgres/tenant.ts'

/**
 * `created`: the store was empty. `known`: the key works already. `refused`: there are organizations, and this key
 * belongs to no organization.
 */
export type BootstrapOutcome = 'created' | 'known' | 'refused'

/** The credit for the organization `local`: a million dollars, more than a local run uses. */
const localCreditMicroUsd = 1_000_000_000_000
/** The simulated carrier's number. It answers and places calls without any setup. */
const simulatedNumber = {
  e164: '+15005550100',
  label: 'Simulated number',
  template: {
    intent: { language: 'en-US' },
    systemPrompt: [
      'You answer the phone of a new installation of Parley. Be brief and friendly.',
      'Q: What can you do for me?',
      'A: I answer calls to this number, until you give it an agent of your own.',
      'Q: Good, thank you very much.',
      'A: You are welcome.',
    ].join('\n'),
    firstMessage: 'Hello, this is Parley. What can I do for you?',
  },
}
/** The simulated carrier's rich-message numbers. Messages from the first number fall back to SMS. */
const simulatedRmsgNumbers = [
  { e164: '+15005550200', smsStatus: 'ready', isPooled: true },
  { e164: '+15005550201', smsStatus: 'not_configured', isPooled: true },
  { e164: '+15005550202', smsStatus: 'not_configured', isPooled: false },
]

export type BootstrapOptions = {
  key: string
  /** True if the simulated carrier is used. Then the organization gets the simulated numbers. */
  hasSimulatedNumber?: boolean
}

export type BootstrapParts = {
  /** Makes an id, a UUIDv7. */
  newId: () => string
  repositoriesOn: (tenancy: Tenancy) => BootstrapRepositories
}

export type BootstrapRepositories = { organizations: Organizations; keys: KeyAdministration }

/** Makes the organization `local` and this key with all scopes, in one transaction, if the store is empty. */
export function bootstrap(
  sql: Sql,
  { key: secret, hasSimulatedNumber = false }: BootstrapOptions,
  { newId, repositoriesOn }: BootstrapParts,
): Promise<BootstrapOutcome> {
  const presented = readSecret(secret)
  if (!presented)
    throw new Error('The bootstrap key must be sk_live_ or sk_test_ and at least 24 characters without spaces.')
  return transactionOfAll(sql, everyOrganization, async (tenancy, tx) => {
    const outcome = await look(tx, presented)
    if (outcome !== 'empty') return outcome
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
    await insertVerification(tx, id)
    if (hasSimulatedNumber) {
      await insertSimulatedNumber(tx, { organizationId: id, test })
      await insertSimulatedRmsgNumbers(tx, { organizationId: id, test }, newId)
    }
    return 'created'
  })
}

/** Marks the organization's business as verified. The business is the operator's, so it needs no verification. */
async function insertVerification(tx: Tx, organizationId: string): Promise<void> {
  await tx`
    insert into business_verifications (organization_id, id, status, attestation_accepted, created_at, updated_at)
    values (${organizationId}, ${`kyb_${uniqueId()}`}, 'approved', false, now(), now())`
}

async function insertSimulatedNumber(tx: Tx, { organizationId, test }: Tenant): Promise<void> {
  const { e164, label, template } = simulatedNumber
  await tx`
    insert into phone_numbers (organization_id, test, id, e164, source, direction, label, dispatch_metadata_template,
      created_at, updated_at)
    values (${organizationId}, ${test}, ${`pn_${uniqueId()}`}, ${e164}, 'managed', 'both', ${label},
      ${JSON.stringify(template)}::text::json, now(), now())
    on conflict do nothing`
}

async function insertSimulatedRmsgNumbers(
  tx: Tx,
  { organizationId, test }: Tenant,
  newId: () => string,
): Promise<void> {
  for (const { e164, smsStatus, isPooled } of simulatedRmsgNumbers)
    await tx`
      insert into rmsg_numbers (test, id, e164, provider_identity, organization_id, status, sms_status, sms_ready_at,
        created_at, updated_at)
      values (${test}, ${newId()}, ${e164}, ${`simulated-${e164.slice(1)}`}, ${isPooled ? organizationId : null}, 'active',
        ${smsStatus}, ${smsStatus === 'ready' ? tx`now()` : null}, now(), now())
      on conflict do nothing`
  if (!test) await tx`update organizations set rmsg_legacy_ended = true where id = ${organizationId}`
}

/**
 * Checks if the key is known and if the store is empty. If several processes start at once, one process finds the store
 * empty, and the other processes wait here until it has committed.
 */
async function look(
  tx: Tx,
  { lookup, digest }: { lookup: string; digest: Buffer },
): Promise<'known' | 'refused' | 'empty'> {
  await tx`select pg_advisory_xact_lock(${locks.bootstrap})`
  const [row] = await tx<{ occupied: boolean; known: boolean }[]>`
    select exists (select from organizations) as occupied,
      exists (select from api_keys where lookup = ${lookup} and digest = ${digest} and revoked_at is null) as known`
  if (row?.known) return 'known'
  return row?.occupied ? 'refused' : 'empty'
}
