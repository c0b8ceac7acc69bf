/**
 * The advisory locks in the database. All numbers are in this file, so that no two locks share a number: two locks with
 * one number made transactions wait for each other.
 */
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from './connect.ts'

/** Each lock has one number. */
export const locks = {
  /** Changes the schema. */
  upgrade: 7_275_539_001,
  /** Restores a backup. */
  restore: 7_275_539_002,
  /** Makes the first organization in an empty store. */
  bootstrap: 7_275_539_003,
  /** Changes the list of serving instances. */
  instances: 7_275_539_004,
  /** Assigns a name to an organization. */
  organizationNames: 7_275_539_005,
  /** Delete old rows. */
  sweepRequests: 7_275_539_010,
  sweepCalls: 7_275_539_011,
  sweepEvents: 7_275_539_012,
} as const

/**
 * Each tenant has a lock under these numbers. If a transaction takes more than one, it takes them in this order, so that
 * no two transactions wait for each other.
 */
export const tenantLocks = {
  /** Changes webhook endpoints, or the endpoints in an agent. */
  endpoints: 7_275_541,
  /** Inserts, renames or counts agents. */
  agentNames: 7_275_540,
  /** Assigns rich-message numbers from the pool. */
  rmsgPool: 7_275_542,
} as const

/** Locks until the transaction ends. */
export async function lockTenant(
  tx: Tx,
  { organizationId, test }: Tenant,
  lock: keyof typeof tenantLocks,
): Promise<void> {
  const tenant = `${organizationId} ${String(test)}`
  await tx`select pg_advisory_xact_lock(${tenantLocks[lock]}, hashtext(${tenant}))`
}
