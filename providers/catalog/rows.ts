/**
 * Makes a provider's catalog rows: each model as its adapter describes it, with the catalog file's figures (prices and
 * benchmark results).
 */
import type { Benchmark, Price, Stage } from '../../domain/ports/model.ts'
import type { CatalogFile, CatalogModel } from '../../generated/catalog/types.ts'
import type { Published, PublishedCatalog } from '../wire/adapter.ts'
import { keyOf, newer, readShipped, readUpdated } from './file.ts'

/**
 * Opens the catalog. `updatedFile` is the path to an update, or null; the file need not exist. The files are read once,
 * when the first provider needs them, and CatalogError is thrown then if a file cannot be used.
 */
export function openCatalog(updatedFile: string | null): PublishedCatalog {
  let index: ReadonlyMap<string, Published> | null = null
  const published = (vendor: string, stage: Stage, model: string): Published => {
    index ??= indexOf(newer(readShipped(), updatedFile === null ? null : readUpdated(updatedFile)))
    return index.get(keyOf({ vendor, stage, model })) ?? nothing
  }
  return {
    published,
    rows(vendor, provider, models, ids) {
      const unknown = ids?.find((id) => models.every((model) => model.id !== id))
      if (unknown !== undefined) throw new RangeError(`${provider} has no model ${unknown}`)
      return models
        .filter(({ id }) => ids === null || ids.includes(id))
        .map((model) => ({ ...model, provider, lastResort: false, ...published(vendor, model.stage, model.id) }))
    },
  }
}

const nothing: Published = { benchmarks: [], prices: [] }

function indexOf({ sources, models }: CatalogFile): ReadonlyMap<string, Published> {
  const index = new Map(models.map((entry) => [keyOf(entry), publishedOf(entry, sources)]))
  for (const { stage, served_as = [], figures } of models) {
    const elsewhere = figures.filter(({ unit }) => unit !== 'ms' && unit !== 'ratio')
    for (const pin of served_as) {
      const own = index.get(`${stage}:${pin}`) ?? nothing
      const benchmarks = elsewhere.map((figure) => benchmarkOf(figure, sources))
      // Figures measured at this vendor are listed before figures for the same model at other vendors.
      index.set(`${stage}:${pin}`, { ...own, benchmarks: [...own.benchmarks, ...benchmarks] })
    }
  }
  return index
}

function publishedOf({ figures, prices, deprecation_date }: CatalogModel, sources: CatalogFile['sources']): Published {
  return {
    benchmarks: figures.map((figure) => benchmarkOf(figure, sources)),
    prices: prices.map((price) => priceOf(price, sources)),
    ...(deprecation_date !== undefined && { deprecationDate: deprecation_date }),
  }
}

function benchmarkOf(figure: CatalogModel['figures'][number], sources: CatalogFile['sources']): Benchmark {
  const { metric, value, unit, language, path } = figure
  const source = sources[figure.source]
  const interested = figure.interested ?? source?.interested
  return {
    metric,
    value,
    unit,
    language,
    path,
    source: source?.title ?? figure.source,
    ...(source && { sourceUrl: source.url }),
    asOf: figure.as_of,
    ...(interested !== undefined && { vendorReported: interested }),
  }
}

function priceOf(price: CatalogModel['prices'][number], sources: CatalogFile['sources']): Price {
  const source = sources[price.source]
  const sourceUrl = price.page ?? source?.url
  return {
    unit: price.unit,
    microUsd: price.micro_usd,
    ...(price.path && { path: price.path }),
    source: source?.title ?? price.source,
    ...(sourceUrl !== undefined && { sourceUrl }),
    asOf: price.as_of,
  }
}
