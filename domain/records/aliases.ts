/** Maps an alias to another name. */
export type Aliases = Readonly<Record<string, string>>

/** This name leaves the choice to the router. */
export const auto = 'auto'

/**
 * Returns the mistake in a list of aliases, or null. If an alias could name an alias, a name's meaning would depend on
 * the order in which two lists apply.
 */
export function wrongAlias(aliases: Aliases): string | null {
  for (const [alias, name] of Object.entries(aliases)) {
    if (alias === '') return 'an alias must not be empty'
    if (alias === auto) return `${auto} always means the choice of the router, and cannot be an alias`
    if (Object.hasOwn(aliases, name)) return `${alias} means ${name}, which is an alias itself`
  }
  return null
}
