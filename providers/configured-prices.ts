/** Applies the configuration's prices to a provider's models. */
import type { Model, Price, PriceUnit } from '../domain/ports/model.ts'
import type { Provider } from '../domain/ports/provider.ts'

export type ConfiguredPrice = {
  /** A model id, or `*` for all models. */
  model: string
  unit: PriceUnit
  microUsd: number
  asOf: string
}

/**
 * Sets the configured prices on all models, also on models available only if a request pins them. Catalog prices in
 * other units stay.
 */
export function price(provider: Provider, prices: readonly ConfiguredPrice[]): void {
  const priced = <Row extends Model>(model: Row): Row => ({ ...model, prices: pricesOf(model, prices) })
  const { unlisted } = provider
  if (provider.rewriteModels) provider.rewriteModels(priced)
  else provider.models = provider.models.map(priced)
  if (unlisted === undefined) return
  provider.unlisted = (stage, id) => {
    const model = unlisted(stage, id)
    return model && priced(model)
  }
}

function pricesOf({ id, prices: published }: Model, prices: readonly ConfiguredPrice[]): readonly Price[] {
  const own = prices.filter(({ model }) => model === id)
  const shared = prices.filter(({ model, unit }) => model === '*' && !own.some((each) => each.unit === unit))
  const configured = [...own, ...shared].map(({ unit, microUsd, asOf }) => ({
    unit,
    microUsd,
    asOf,
    source: 'parley.yaml',
  }))
  return [...configured, ...published.filter(({ unit }) => !configured.some((each) => each.unit === unit))]
}
