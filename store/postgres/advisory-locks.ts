/**
 * The advisory locks in the database. All numbers are in this file, so that no two locks share a number. Otherwise
 * transactions with different tasks would wait for each other.
 */
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from './connect.ts'

/** The locks that are not for one tenant. Each has one number. */
export const locks = {
  /** Held to change the schema. */
  upgrade: 7_275_539_001,
  /** Held to restore a backup. */
  restore: 7_275_539_002,
  /** Held to make the first organization in an empty store. */
  bootstrap: 7_275_539_003,
  /** Held to change the list of serving instances. */
  instances: 7_275_539_004,
  /** Held to assign a name to an organization. */
  organizationNames: 7_275_539_005,
  /** Held to make the first person. */
  firstPerson: 7_275_539_006,
  /** Held to delete old rows, one lock for each kind. */
  sweepRequests: 7_275_539_010,
  sweepCalls: 7_275_539_011,
  sweepEvents: 7_275_539_012,
  sweepAudit: 7_275_539_013,
  sweepMessageTexts: 7_275_539_014,
} as const

/**
 * The locks for one tenant. If a transaction takes several, it takes them in this order, so that no two transactions
 * wait for each other.
 */
export const tenantLocks = {
  /** Held to change webhook endpoints, or the endpoints in an agent. */
  endpoints: 7_275_541,
  /** Held to insert, rename or count agents. */
  agentNames: 7_275_540,
  /** Held to assign rich-message numbers from the pool. */
  rmsgPool: 7_275_542,
  /** Held to count API keys. Live and test keys count together, and take the lock of the live tenant. */
  apiKeys: 7_275_543,
} as const

/** Takes the tenant's lock until the transaction ends. */
export async function lockTenant(
  tx: Tx,
  { organizationId, test }: Tenant,
  lock: keyof typeof tenantLocks,
): Promise<void> {
  const tenant = `${organizationId} ${String(test)}`
  await tx`select pg_advisory_xact_lock(${tenantLocks[lock]}, hashtext(${tenant}))`
}
