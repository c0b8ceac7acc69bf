/**
 * Sends changes by NOTIFY. If a key changes, or its organization's settings or provider keys change, every instance
 * forgets the cached key. If an organization changes, instances also check the credentials behind open sockets.
 */
import type { Tx } from '../postgres/connect.ts'

/** One key, all keys of an organization, or all keys. A cached key contains its organization's settings. */
export type KeyChange = { lookup: string } | { organizationId: string } | { all: true }

export const keysChannel = 'parley_keys'

/** A key's `lookup` is hexadecimal, so a payload with this prefix can only be an organization id. */
const organizationPrefix = 'org_'
const all = '*'

/**
 * Notifies every process. Postgres sends the change when the transaction commits. The statement must use the
 * transaction's connection, because another connection could be waiting for this transaction.
 */
export async function notifyKeyChange(tx: Tx, change: KeyChange): Promise<void> {
  const payload = 'lookup' in change ? change.lookup : 'organizationId' in change ? change.organizationId : all
  await tx`select pg_notify(${keysChannel}, ${payload})`
}

export function readKeyChange(payload: string): KeyChange {
  if (payload === all) return { all: true }
  return payload.startsWith(organizationPrefix) ? { organizationId: payload } : { lookup: payload }
}
