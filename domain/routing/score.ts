import type { Row } from './catalog.ts'
import { baseOf, type Language } from './language.ts'
import type { LiveFigures } from './live-figures.ts'
import type { Benchmark, Objective, Path, Stage } from './model.ts'
import { type Axis, axes, costMix, latencyMetrics, leading, qualityMetrics, weights } from './weights.ts'

/** Which figures order the rows. `language` is the one asked for; a variety (es-MX) orders the rows of its base language. */
export type Projection = { stage: Stage; path: Path; objective: Objective; language: Language }

/** 1 is the best of the rows that were ranked together, 0 the worst, null is not known. */
export type Parts = Record<Axis, number | null>
export type Scored = { row: Row; score: number | null; parts: Parts }

type LiveOf = (row: Row, path: Path) => LiveFigures | null
type Keyed = Scored & { known: number; missing: number; regional: boolean }

/**
 * Best first. Figures are normalised only within one metric and only among these rows. A part that is not known adds nothing; without
 * the objective's leading figure there is no score, and the row stands behind those that have one. A stand-in stands behind everything.
 */
export function rank(rows: readonly Row[], projection: Projection, liveOf: LiveOf): Scored[] {
  const byAxis: Record<Axis, Map<Row, number>> = {
    quality: normalised(qualityFigures(rows, projection)),
    latency: normalised(latencyFigures(rows, projection, liveOf)),
    cost: normalised(costFigures(rows, projection)),
  }
  return rows
    .map((row) => scored(row, byAxis, projection))
    .sort(inOrder)
    .map(({ row, score, parts }) => ({ row, score, parts }))
}

/**
 * Figures of a row that may be shown for a language and a path: its own language's, or those that do not depend on one. What was measured
 * in the language itself goes before a variety.
 */
export function figuresFor(row: Row, path: Path, { base }: Language): Benchmark[] {
  const distance = ({ language }: Benchmark) => (language === base ? 0 : language === '*' ? 1 : 2)
  return row.model.benchmarks
    .filter((figure) => figure.path === path && (figure.language === '*' || baseOf(figure.language) === base))
    .sort((a, b) => distance(a) - distance(b))
}

function scored(row: Row, byAxis: Record<Axis, Map<Row, number>>, projection: Projection): Keyed {
  const { objective, language } = projection
  const part = (axis: Axis): number | null => byAxis[axis].get(row) ?? null
  const parts: Parts = { quality: part('quality'), latency: part('latency'), cost: part('cost') }
  const known = axes.reduce((sum, axis) => sum + weights[objective][axis] * (parts[axis] ?? 0), 0)
  const missing = axes.filter((axis) => parts[axis] === null).length
  const score = parts[leading[objective]] === null ? null : known
  return { row, parts, score, known, missing, regional: isRegional(row, language) }
}

function inOrder(a: Keyed, b: Keyed): number {
  return (
    Number(a.row.model.lastResort) - Number(b.row.model.lastResort) ||
    Number(a.score === null) - Number(b.score === null) ||
    Number(b.regional) - Number(a.regional) ||
    b.known - a.known ||
    a.missing - b.missing ||
    a.row.order - b.row.order
  )
}

/** Whether the row says something of the variety itself: that it speaks it, or how well. */
function isRegional({ model }: Row, { tag, base }: Language): boolean {
  if (tag === base) return false
  return (
    model.languages.includes(tag) ||
    model.voices.some((voice) => voice.language === tag) ||
    model.benchmarks.some((figure) => figure.language === tag && figure.value !== null)
  )
}

/** Higher is better in what these answer. */
function qualityFigures(rows: readonly Row[], { stage, path, language }: Projection): Map<Row, number> {
  const byScale = new Map<string, Map<Row, number>>()
  const figures = rows.map((row) => figuresFor(row, path, language))
  for (const { metric, better } of qualityMetrics[stage])
    rows.forEach((row, i) => {
      for (const figure of figures[i] ?? []) {
        if (figure.metric !== metric || figure.value === null) continue
        const scale = byScale.get(`${metric} ${figure.source}`) ?? new Map<Row, number>()
        byScale.set(`${metric} ${figure.source}`, scale)
        if (!scale.has(row)) scale.set(row, better === 'lower' ? -figure.value : figure.value)
      }
    })
  return [...byScale.values()].reduce(
    (widest, scale) => (scale.size > widest.size ? scale : widest),
    new Map<Row, number>(),
  )
}

function latencyFigures(rows: readonly Row[], projection: Projection, liveOf: LiveOf): Map<Row, number> {
  return lowestBest(rows, (row) => latencyOf(row, projection, liveOf))
}

/**
 * What was measured here goes before what was published. A failed attempt costs the caller another one, so the time counts as often as
 * it takes on average to get an answer; at an error rate of 1 nothing is known of the time.
 */
function latencyOf(row: Row, { stage, path, language }: Projection, liveOf: LiveOf): number | null {
  const live = liveOf(row, path)
  const [canonical] = latencyMetrics[stage][path]
  const measured = canonical === 'real_time_factor' ? live?.realTimeFactor : live?.firstByteMs
  const time = measured ?? published(row, path, language, latencyMetrics[stage][path])
  const errorRate = live?.errorRate ?? 0
  return time === null || errorRate >= 1 ? null : time / (1 - errorRate)
}

function published(row: Row, path: Path, language: Language, names: readonly string[]): number | null {
  const figures = figuresFor(row, path, language)
  return figures.find((figure) => names.includes(figure.metric) && figure.value !== null)?.value ?? null
}

function costFigures(rows: readonly Row[], { stage }: Projection): Map<Row, number> {
  return lowestBest(rows, (row) => costOf(row, stage))
}

function costOf(row: Row, stage: Stage): number | null {
  let sum = 0
  for (const { unit, share } of costMix[stage]) {
    const price = row.model.prices.find((each) => each.unit === unit)?.microUsd ?? null
    if (price === null) return null
    sum += price * share
  }
  return sum
}

function lowestBest(rows: readonly Row[], read: (row: Row) => number | null): Map<Row, number> {
  const figures = new Map<Row, number>()
  for (const row of rows) {
    const figure = read(row)
    if (figure !== null) figures.set(row, -figure)
  }
  return figures
}

/** To 0…1 over the rows that have a figure. Equal figures are all the best. A stand-in is not part of the field: its zero cost would set the scale. */
function normalised(figures: Map<Row, number>): Map<Row, number> {
  const field = [...figures].filter(([row]) => !row.model.lastResort).map(([, figure]) => figure)
  const values = field.length ? field : [...figures.values()]
  const best = Math.max(...values)
  const worst = Math.min(...values)
  const part = (figure: number): number => (best === worst ? 1 : (figure - worst) / (best - worst))
  return new Map([...figures].map(([row, figure]) => [row, Math.min(1, Math.max(0, part(figure)))]))
}
