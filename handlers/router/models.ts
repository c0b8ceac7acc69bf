import { type AudioSupport, type Benchmark, type Model, objectiveOf } from '../../domain/ports/model.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { ListedModel, ModelList, ModelQuery } from '../../domain/routing/list-models.ts'
import type { RouterHandlers } from '../../generated/router/handlers.ts'
import type {
  ModelRow,
  AudioSupport as WireAudioSupport,
  Benchmark as WireBenchmark,
} from '../../generated/router/types.ts'
import { located } from '../faults/located-fault.ts'
import { priceOf } from '../views/price.ts'

/** Lists models. `region` is this router's region. */
export function listModels(
  list: (query: ModelQuery) => ModelList,
  region: string,
): RouterHandlers<Caller>['listModels'] {
  return ({ query }, { caller }) => {
    const { language } = query
    const objective = objectiveOf(query.objective)
    const { models, catalogDigest, path, ...rest } = namingParameter(() =>
      list({ caller, language, objective, path: query.path === 'batch' ? 'batch' : 'stream' }),
    )
    return {
      status: 200,
      body: { models: models.map((model) => rowOf(model, region)), catalog_digest: catalogDigest, path, ...rest },
    }
  }
}

/** Adds the query parameter's name to a language error, because here the language is a query parameter. */
function namingParameter(list: () => ModelList): ModelList {
  try {
    return list()
  } catch (error) {
    throw located(error, 'bad_language_tag', 'language')
  }
}

function rowOf({ model, pin, rank, score, benchmarks }: ListedModel, region: string): ModelRow {
  return {
    id: model.id,
    provider: model.provider,
    pin,
    kind: model.stage,
    capabilities: { ...model.capabilities },
    regions: [region],
    audio_formats: model.audioFormats.map(audioOf),
    languages: [...model.languages],
    ...(model.voices.length > 0 && { voices: voicesOf(model) }),
    rank,
    score,
    benchmarks: benchmarks.map(benchmarkOf),
    price: model.prices.map(priceOf),
    ...(model.deprecationDate && { deprecation_date: model.deprecationDate }),
  }
}

function voicesOf({ voices }: Model): NonNullable<ModelRow['voices']> {
  return voices.map(({ id, name, gender, styles, language }) => ({
    id,
    name,
    gender,
    styles: [...styles],
    ...(language && { language }),
  }))
}

function audioOf({ encoding, sampleRatesHz, sampleRateRangeHz, channels }: AudioSupport): WireAudioSupport {
  return {
    encoding,
    ...(sampleRatesHz && { sample_rates_hz: [...sampleRatesHz] }),
    ...(sampleRateRangeHz && { sample_rate_range_hz: { ...sampleRateRangeHz } }),
    channels: [...channels],
  }
}

/** Writes a figure. A figure measured by this server has a precise time, but the contract has only the day. */
function benchmarkOf({ asOf, vendorReported: interested, sourceUrl, ...figure }: Benchmark): WireBenchmark {
  return {
    ...figure,
    ...(sourceUrl !== undefined && { source_url: sourceUrl }),
    as_of: asOf.slice(0, 10),
    ...(interested !== undefined && { interested }),
  }
}
