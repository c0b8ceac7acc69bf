/**
 * Reads model names in the compatible API. A name is one string: `auto`, `<provider>:<model>`,
 * `<provider>/<model>`, a bare model id if exactly one provider serves it, or an alias. Ids may contain colons and
 * slashes themselves. So catalog names are tried before names that only a provider knows.
 */

import type { Catalog, Row } from '../catalog/catalog.ts'
import { type Objective, otherStage, type Stage } from '../ports/model.ts'
import { type Aliases, auto } from '../records/aliases.ts'
import { Fault } from '../records/fault.ts'
import type { Routing } from './ask.ts'
import { nearNames } from './near-names.ts'

export type NamedModel = {
  stage: Stage
  /** The model name. If absent, the router chooses a model, as for `auto`. */
  name?: string | undefined
  /** Orders the candidates if the router chooses. */
  objective?: Objective | undefined
  /** The preferred region if the router chooses. */
  region?: string | undefined
  /** The only providers that may serve the request, whether the model is pinned or not. */
  allowProviders?: readonly string[] | undefined
  /** The key's aliases. They have priority over the catalog's aliases. */
  aliases?: Aliases | undefined
}

/** Converts the name to a routing. Throws the faults `unknown_model`, `ambiguous_model` and `model_not_allowed`. */
export function routingOfName(catalog: Catalog, named: NamedModel): Routing {
  const { stage, objective, allowProviders, region } = named
  const name = unaliased(catalog, named.name, named.aliases)
  if (name === undefined || name === auto)
    return {
      mode: 'auto',
      objective: objective ?? 'balanced',
      ...(allowProviders?.length && { allowProviders }),
      ...(region !== undefined && { region }),
    }
  let rows = rowsNamed(catalog, stage, name)
  if (rows.length === 0) {
    // This call loads the rows of newly detected providers into the catalog.
    catalog.version()
    rows = rowsNamed(catalog, stage, name)
  }
  const [row] = rows
  if (row === undefined) throw unknown(catalog, stage, name)
  if (rows.length > 1) throw ambiguous(rows)
  if (
    allowProviders?.length &&
    ![row.provider.id, modelName(row.provider.id, row.model.id)].some((id) => allowProviders.includes(id))
  )
    throw new Fault({ kind: 'model_not_allowed', stage })
  return { mode: 'explicit', provider: row.provider.id, model: row.model.id }
}

/**
 * Returns the name `<provider>:<model>`. In a request this name pins a model. In a response it states which model has
 * served the request.
 */
export function modelName(provider: string, model: string): string {
  return `${provider}:${model}`
}

/** Replaces an alias by its name. The result is not looked up again, so aliases cannot form a chain or a loop. */
function unaliased(catalog: Catalog, name: string | undefined, ofKey: Aliases = {}): string | undefined {
  if (name === undefined) return undefined
  if (Object.hasOwn(ofKey, name)) return ofKey[name]
  return Object.hasOwn(catalog.aliases, name) ? catalog.aliases[name] : name
}

function rowsNamed(catalog: Catalog, stage: Stage, name: string): readonly Row[] {
  const pinned = splitAt(catalog, stage, name, ':') ?? splitAt(catalog, stage, name, '/')
  if (pinned) return [pinned]
  const bare = catalog.stage(stage).filter(({ model }) => model.id === name)
  if (bare.length > 0) return callable(catalog, bare)
  const unlisted = unlistedRow(catalog, stage, name)
  return unlisted ? [unlisted] : []
}

function splitAt(catalog: Catalog, stage: Stage, name: string, separator: string): Row | undefined {
  const at = name.indexOf(separator)
  return at > 0 ? catalog.find(stage, name.slice(0, at), name.slice(at + 1)) : undefined
}

/**
 * Returns the only row whose provider has a credential, if there is exactly one, else all rows. A provider without a
 * credential serves no models, so it makes no name ambiguous.
 */
function callable(catalog: Catalog, rows: readonly Row[]): readonly Row[] {
  const served = rows.filter(({ provider }) => catalog.unavailable(provider) === null)
  return served.length === 1 ? served : rows
}

/**
 * Finds a model outside the catalog: the name contains the provider's id, or it has the form of a provider's model ids.
 */
function unlistedRow(catalog: Catalog, stage: Stage, name: string): Row | undefined {
  for (const separator of [':', '/']) {
    const at = name.indexOf(separator)
    const row = at > 0 ? catalog.unlisted(stage, name.slice(0, at), name.slice(at + 1)) : undefined
    if (row) return row
  }
  const owner = catalog.ownerOf(stage, name)
  return owner && catalog.unlisted(stage, owner.id, name)
}

const namedMax = 5

function unknown(catalog: Catalog, stage: Stage, name: string): Fault {
  const other = otherStage(stage, (each) => rowsNamed(catalog, each, name).length > 0)
  const isPin = name.includes(':')
  const ids = catalog.stage(stage).map(({ provider, model }) => (isPin ? modelName(provider.id, model.id) : model.id))
  const near = other === null ? nearNames(name, [auto, ...ids]) : []
  return new Fault({ kind: 'unknown_model', stage, otherStage: other, near })
}

function ambiguous(rows: readonly Row[]): Fault {
  const names = rows.slice(0, namedMax).map(({ provider, model }) => modelName(provider.id, model.id))
  return new Fault({ kind: 'ambiguous_model', names })
}
