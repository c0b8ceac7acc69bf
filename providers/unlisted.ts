/**
 * Makes catalog rows for unlisted models: models published after our list was written, or models in a single account.
 * They have no benchmark results and no price, so a request must name (pin) such a model.
 */
import type { Model, Stage } from '../domain/ports/model.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Vendor } from './vendors/vendors.ts'
import type { VendorModel } from './wire/adapter.ts'

/**
 * Makes a row for an unlisted model. If the vendor has its own protocol, copies a similar listed model's row, under the
 * new id and without languages.
 */
export function unlistedOf(
  { unlisted }: Vendor,
  provider: string,
  models: readonly VendorModel[],
): Provider['unlisted'] {
  return (stage, id) => {
    const made = madeLike(models, unlisted, stage, id)
    return made && ({ ...made, provider, benchmarks: [], prices: [], lastResort: false } satisfies Model)
  }
}

/**
 * Returns rows for configured models missing from our list, because vendors publish models faster than we update the
 * list. These rows have no benchmark results and no prices.
 */
export function namedBeside(
  models: readonly VendorModel[],
  { unlisted }: Vendor,
  named: Partial<Record<Stage, readonly string[]>>,
): VendorModel[] {
  const listedIds = new Set(models.map(({ id }) => id))
  return (Object.entries(named) as [Stage, readonly string[]][]).flatMap(([stage, ids]) =>
    ids.filter((id) => !listedIds.has(id)).flatMap((id) => madeLike(models, unlisted, stage, id) ?? []),
  )
}

function madeLike(
  models: readonly VendorModel[],
  unlisted: Vendor['unlisted'],
  stage: Stage,
  id: string,
): VendorModel | null {
  const like = models.find((model) => model.stage === stage && model.id === unlisted?.[stage])
  return like === undefined ? null : { ...like, id, languages: ['*'] }
}

/** Returns a function to check if a model id fits the vendor's naming pattern for a stage. */
export function isOwnOf({ ids }: Vendor): Provider['isOwn'] {
  return (stage: Stage, model) => ids?.[stage]?.test(model) ?? false
}
