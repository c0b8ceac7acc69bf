import type { Access } from '../domain/access/users.ts'

type Entry = { id: string; scope: string | null; role: string | null }

/**
 * Returns the required scope and role for an operation or a channel from the contract's table. Throws if the table has
 * no such entry, or if the entry needs no key.
 */
export function accessOf(table: readonly Entry[], id: string): Access {
  const { scope = null, role = null } = table.find((entry) => entry.id === id) ?? {}
  if (scope === null) throw new Error(`the contract has no access for ${id}`)
  return { scope, role }
}
