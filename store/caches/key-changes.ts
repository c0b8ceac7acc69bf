/**
 * Every instance forgets what it remembers of a key when the key, or something that it carries, changes: the change
 * is sent with NOTIFY.
 */
import type { Tx } from '../postgres/connect.ts'

/** One key; all keys of an organization, which carry its settings and its provider keys; or all keys. */
export type KeyChange = { lookup: string } | { organizationId: string } | { all: true }

export const keysChannel = 'parley_keys'

/** Lookups are hex, so an id of an organization cannot be taken for one. */
const organizationPrefix = 'org_'
const all = '*'

/**
 * Sent when the transaction commits. On the transaction's connection: another connection could be waiting for this
 * transaction.
 */
export async function notifyKeyChange(tx: Tx, change: KeyChange): Promise<void> {
  const payload = 'lookup' in change ? change.lookup : 'organizationId' in change ? change.organizationId : all
  await tx`select pg_notify(${keysChannel}, ${payload})`
}

export function readKeyChange(payload: string): KeyChange {
  if (payload === all) return { all: true }
  return payload.startsWith(organizationPrefix) ? { organizationId: payload } : { lookup: payload }
}
