/** Maps each alias to a model's name. */
export type Aliases = Readonly<Record<string, string>>

/** If a request contains this model name, the router chooses the model. */
export const auto = 'auto'

/**
 * Describes the first mistake in a list of aliases, or returns null. An alias may not refer to another alias. An API
 * key's list and the configuration's list can both apply to a request, and the result would then depend on their order.
 */
export function wrongAlias(aliases: Aliases): string | null {
  for (const [alias, name] of Object.entries(aliases)) {
    if (alias === '') return 'an alias must not be empty'
    if (alias === auto) return `${auto} always means the choice of the router, and cannot be an alias`
    if (Object.hasOwn(aliases, name)) return `${alias} means ${name}, which is an alias itself`
  }
  return null
}
