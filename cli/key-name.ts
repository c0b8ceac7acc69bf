import { CommandError } from './command-error.ts'

type NamedKey = { id: string; name: string; revokedAt: Date | null }

/** Returns the id of the live key with this id or name. Throws CommandError if no key or several live keys have it. */
export function keyIn(keys: readonly NamedKey[], nameOrId: string): string {
  const live = keys.filter(({ revokedAt }) => revokedAt === null)
  const byId = live.find(({ id }) => id === nameOrId)
  const named = byId ? [byId] : live.filter(({ name }) => name !== '' && name === nameOrId)
  const [only] = named
  if (only === undefined) throw new CommandError(`there is no live key ${nameOrId}`)
  if (named.length === 1) return only.id
  const ids = named.map(({ id }) => id).join(', ')
  throw new CommandError(`${named.length} live keys have the name ${nameOrId}; give the id of one: ${ids}`)
}
