/**
 * How clients of the compatible surface name a model, in one string: `auto`, `<provider>:<model>`, `<provider>/<model>`, or the bare id of a
 * model that exactly one provider serves. Ids may hold colons and slashes themselves, so a spelling counts only where the catalog has
 * that model.
 */

import type { Catalog, Row } from '../catalog/catalog.ts'
import { type Objective, otherStage, type Stage } from '../catalog/model.ts'
import { Fault } from '../fault.ts'
import type { Routing } from './ask.ts'

export type NamedModel = {
  stage: Stage
  /** Omitted: the router chooses, as for `auto`. */
  name?: string | undefined
  /** Orders the candidates where the router chooses. */
  objective?: Objective | undefined
  /** No other provider may serve, pinned or not. */
  allowProviders?: readonly string[] | undefined
}

/** Throws the faults unknown_model, ambiguous_model and model_not_allowed. */
export function routingOfName(catalog: Catalog, { stage, name, objective, allowProviders }: NamedModel): Routing {
  if (name === undefined || name === 'auto')
    return { mode: 'auto', objective: objective ?? 'balanced', ...(allowProviders?.length && { allowProviders }) }
  let rows = rowsNamed(catalog, stage, name)
  if (rows.length === 0) {
    // Providers that were found since the last look have rows only after this.
    catalog.version()
    rows = rowsNamed(catalog, stage, name)
  }
  const [row] = rows
  if (row === undefined) throw unknown(catalog, stage, name)
  if (rows.length > 1) throw ambiguous(rows)
  if (allowProviders?.length && !allowProviders.includes(row.provider.id))
    throw new Fault({ kind: 'model_not_allowed', stage })
  return { mode: 'explicit', provider: row.provider.id, model: row.model.id }
}

/** `<provider>:<model>`: the spelling that pins a model, and the name of the model that served in an answer. */
export function modelName(provider: string, model: string): string {
  return `${provider}:${model}`
}

function rowsNamed(catalog: Catalog, stage: Stage, name: string): readonly Row[] {
  const pinned = splitAt(catalog, stage, name, ':') ?? splitAt(catalog, stage, name, '/')
  return pinned ? [pinned] : catalog.stage(stage).filter(({ model }) => model.id === name)
}

function splitAt(catalog: Catalog, stage: Stage, name: string, separator: string): Row | undefined {
  const at = name.indexOf(separator)
  return at > 0 ? catalog.find(stage, name.slice(0, at), name.slice(at + 1)) : undefined
}

const namedMax = 5

function unknown(catalog: Catalog, stage: Stage, name: string): Fault {
  const other = otherStage(stage, (each) => rowsNamed(catalog, each, name).length > 0)
  return new Fault({ kind: 'unknown_model', stage, otherStage: other })
}

function ambiguous(rows: readonly Row[]): Fault {
  const names = rows.slice(0, namedMax).map(({ provider, model }) => modelName(provider.id, model.id))
  return new Fault({ kind: 'ambiguous_model', names })
}
