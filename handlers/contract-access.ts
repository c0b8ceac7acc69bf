import type { Access } from '../domain/access/users.ts'

type Entry = { id: string; scope: string | null; role: string | null }

/**
 * Reads from a table of the contract who may use an operation or a channel. Throws if the table does not have it, or if
 * it needs no key.
 */
export function accessOf(table: readonly Entry[], id: string): Access {
  const { scope = null, role = null } = table.find((entry) => entry.id === id) ?? {}
  if (scope === null) throw new Error(`the contract has no access for ${id}`)
  return { scope, role }
}
