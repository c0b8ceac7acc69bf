/**
 * The figures for ranking the catalog's rows for speech to text, LLM or text to speech. They are read from the catalog
 * once for each path and language, because finding a figure among a model's hundred figures takes far longer than
 * comparing it. Columns are indexed by `Row.order`. NaN is a missing figure. Higher is always better.
 */
import type { Row } from '../catalog/catalog.ts'
import { baseOf, type Language } from '../catalog/language.ts'
import type { Benchmark, Path, Stage } from '../ports/model.ts'
import { costMix, latencyMetrics, qualityMetrics } from './weights.ts'

/** Comparable figures: one metric from one source, with the same nearness to the ask's language (see Nearness). */
export type Scale = {
  metric: string
  source: string
  nearness: Nearness
  /** True if the figures' source sells one of the measured models or a competing model. */
  vendorReported: boolean
  values: Float64Array
}

export type FigureTable = {
  /** The scales, the most preferred first. */
  scales: readonly Scale[]
  /**
   * The published latency in milliseconds, negated. For recordings it is the processing time divided by the audio's
   * duration.
   */
  latency: Float64Array
  /** The cost in micro-USD, negated. */
  cost: Float64Array
  /** 1 if the row lists the requested variety of the language, such as en-GB. */
  regional: Uint8Array
  /** 1 if the row may be chosen only when nothing else is left. */
  lastResort: Uint8Array
}

/**
 * How near a figure's language is to the requested language. 0: the same tag. 1: the base language, or all languages.
 * 2: another variety of the language.
 */
type Nearness = 0 | 1 | 2

/**
 * Limits the tables in memory. API clients may send any language, so the number of different tables has no natural
 * limit.
 */
const tablesMax = 200

export class FigureTables {
  readonly #byRows = new WeakMap<readonly Row[], Map<string, FigureTable>>()

  /** Returns the table, from memory if possible. `rows` must be all rows of `stage`, in catalog order. */
  of(rows: readonly Row[], stage: Stage, path: Path, language: Language): FigureTable {
    const tables = this.#byRows.get(rows) ?? new Map<string, FigureTable>()
    this.#byRows.set(rows, tables)
    const key = `${path} ${language.tag}`
    const cached = tables.get(key)
    if (cached) return cached
    if (tables.size >= tablesMax) tables.clear()
    const table = tableOf(rows, stage, path, language)
    tables.set(key, table)
    return table
  }
}

/**
 * Returns a row's figures for a path and a language: figures with the same base language, and figures for all
 * languages. The figure nearest to the tag comes first.
 */
export function figuresFor(row: Row, path: Path, language: Language): Benchmark[] {
  return row.model.benchmarks
    .filter((figure) => figure.path === path && isOf(figure, language))
    .sort((a, b) => nearness(a, language) - nearness(b, language))
}

/** Returns a row's figure on a scale. */
export function figureOn(row: Row, path: Path, language: Language, scale: Scale): Benchmark | null {
  const { metric, source } = scale
  const match = figuresFor(row, path, language).find(
    (figure) => figure.metric === metric && figure.source === source && figure.value !== null,
  )
  return match && nearness(match, language) === scale.nearness ? match : null
}

/** Returns the row's latency figure under any name, because sources name the same latency differently. */
export function publishedLatency(row: Row, stage: Stage, path: Path, language: Language): Benchmark | null {
  const names = latencyMetrics[stage][path]
  return figuresFor(row, path, language).find(({ metric, value }) => names.includes(metric) && value !== null) ?? null
}

function tableOf(rows: readonly Row[], stage: Stage, path: Path, language: Language): FigureTable {
  const size = (rows.at(-1)?.order ?? -1) + 1
  const column = () => new Float64Array(size).fill(Number.NaN)
  const table = { latency: column(), cost: column(), regional: new Uint8Array(size), lastResort: new Uint8Array(size) }
  const scales = new Map<string, Scale>()
  for (const row of rows) {
    const time = publishedLatency(row, stage, path, language)?.value ?? null
    if (time !== null) table.latency[row.order] = -time
    table.cost[row.order] = -(costOf(row, stage, path) ?? Number.NaN)
    table.regional[row.order] = isRegional(row, language) ? 1 : 0
    table.lastResort[row.order] = row.model.lastResort ? 1 : 0
    for (const figure of figuresFor(row, path, language)) {
      const better = qualityMetrics[stage].find(({ metric }) => metric === figure.metric)?.better
      if (better === undefined || figure.value === null) continue
      const { values } = scaleOf(scales, figure, language, column)
      if (Number.isNaN(values[row.order])) values[row.order] = better === 'lower' ? -figure.value : figure.value
    }
  }
  const preferred = (scale: Scale) => qualityMetrics[stage].findIndex(({ metric }) => metric === scale.metric)
  return { ...table, scales: [...scales.values()].sort((a, b) => preferred(a) - preferred(b)) }
}

function scaleOf(scales: Map<string, Scale>, figure: Benchmark, language: Language, column: () => Float64Array): Scale {
  const { metric, source } = figure
  const key = `${nearness(figure, language)} ${metric} ${source}`
  const existing = scales.get(key)
  if (existing) return existing
  const vendorReported = figure.vendorReported === true
  const scale: Scale = { metric, source, nearness: nearness(figure, language), vendorReported, values: column() }
  scales.set(key, scale)
  return scale
}

function isOf({ language }: Benchmark, { base }: Language): boolean {
  return language === '*' || baseOf(language) === base
}

function nearness({ language }: Benchmark, { tag, base }: Language): Nearness {
  return language === tag ? 0 : language === base || language === '*' ? 1 : 2
}

function isRegional({ model }: Row, { tag, base }: Language): boolean {
  if (tag === base) return false
  return model.languages.includes(tag) || model.voices.some((voice) => voice.language === tag)
}

function costOf({ prices }: Row, stage: Stage, path: Path): number | null {
  let sum = 0
  for (const { unit, share } of costMix[stage]) {
    const price = prices[path].find((each) => each.unit === unit)?.microUsd ?? null
    if (price === null) return null
    sum += price * share
  }
  return sum
}
