/** Names that mean another name. */
export type Aliases = Readonly<Record<string, string>>

/** The name that leaves the choice to the router. */
export const auto = 'auto'

/** The mistake in a list of aliases, or null. An alias of an alias would make the meaning of a name depend on the order of two lists. */
export function wrongAlias(aliases: Aliases): string | null {
  for (const [alias, name] of Object.entries(aliases)) {
    if (alias === '') return 'an alias must not be empty'
    if (alias === auto) return `${auto} always means the choice of the router, and cannot be an alias`
    if (Object.hasOwn(aliases, name)) return `${alias} means ${name}, which is an alias itself`
  }
  return null
}
