/**
 * Rows for models outside the catalog: models published after our list was written, or models of one account. They have
 * no figures and no price, so only a pin reaches them.
 */
import type { Model, Stage } from '../domain/ports/model.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Vendor } from './vendors/vendors.ts'
import type { VendorModel } from './wire/adapter.ts'

/**
 * Makes a row for an unlisted model. For a vendor with its own protocol: copies the row of a listed model with the same
 * fields, under the new id and without a claim about languages.
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
 * Returns rows for configured models that our list lacks, because vendors publish faster than we do. They are in the
 * catalog, without figures.
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

/** Returns a check whether a model id fits the vendor's naming pattern for this stage. */
export function isOwnOf({ ids }: Vendor): Provider['isOwn'] {
  return (stage: Stage, model) => ids?.[stage]?.test(model) ?? false
}
