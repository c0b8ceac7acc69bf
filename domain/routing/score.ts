import type { Row } from '../catalog/catalog.ts'
import type { Language } from '../catalog/language.ts'
import { type Gender, lacksVoice } from '../catalog/voices.ts'
import type { LiveFigures } from '../health/live-figures.ts'
import type { Objective, Path, Stage } from '../ports/model.ts'
import type { FigureTable, Scale } from './figure-table.ts'
import type { RadixSort } from './radix-sort.ts'
import { type Axis, axes, leading, measuredLatency, weights } from './weights.ts'

/**
 * The request that rows are ranked for. `region` is the request's preferred region. Among equal rows, providers in this
 * region come first. `gender` is the requested voice's gender, or null if any voice will do.
 */
export type Projection = {
  stage: Stage
  path: Path
  objective: Objective
  region?: string | undefined
  gender: Gender | null
  language: Language | null
}

/** A row's figures, normalised: 1 is the best row in the ranking, 0 the worst, null is unknown. */
export type Parts = Record<Axis, number | null>
export type Scored = {
  readonly row: Row
  /** Rounded to six digits. Null if the row lacks the objective's most important figure. */
  readonly score: number | null
  readonly parts: Parts
  /** The share of successful recent attempts, or 1 if there were too few. The score includes this factor. */
  readonly successRate: number
}
export type Ranking = {
  scored: Scored[]
  /** The scale for the quality figures. Null if no scale compares these rows. */
  scale: Scale | null
  /** True if the region has changed the order. */
  isRegional: boolean
}

/** The facts from `Health` about rows. */
export type Standing = {
  live: (row: Row, path: Path) => LiveFigures | null
  /**
   * True if the row's provider has stopped answering. Then the row is placed behind all rows of answering providers.
   */
  suspect: (row: Row) => boolean
}

/** A number for each row, in row order. NaN means an unknown figure. */
type Column = Float64Array
type Columns = Record<Axis | 'score' | 'successRate', Column>

/**
 * Ranks rows, best first. Figures are normalised only within one scale and only among these rows. An unknown part adds
 * nothing. If a row lacks the objective's most important figure, it has no score and is placed behind all rows with a
 * score. A model of last resort is placed last.
 */
export function rank(
  rows: readonly Row[],
  table: FigureTable,
  projection: Projection,
  standing: Standing,
  sort: RadixSort,
): Ranking {
  const orders = ordersOf(rows)
  const scale = scaleFor(rows, orders, table.scales)
  const groups = groupsOf(rows, orders, table, standing)
  addOtherVoices(groups, rows, projection)
  const columns = emptyColumns(rows.length)
  fill(columns.quality, orders, scale?.values ?? null)
  fill(columns.latency, orders, table.latency)
  fill(columns.cost, orders, table.cost)
  columns.successRate.fill(1)
  addMeasured(columns, rows, projection, standing)
  for (const axis of axes) normalise(columns[axis], groups)
  const places = weigh(columns, { groups, rows, objective: projection.objective })
  const usual = projection.region === undefined ? null : Int32Array.from(sort.rising(places).subarray(0, rows.length))
  if (projection.region !== undefined) putRegionFirst(places, rows, projection.region)
  const order = sort.rising(places)
  return {
    isRegional: usual?.some((index, place) => index !== order[place]) ?? false,
    scored: rows.map((_, place) => {
      const index = order[place] as number
      return new RankedRow(rows[index] as Row, columns, index)
    }),
    scale,
  }
}

/**
 * The groups of rows that rank behind all other rows, regardless of their scores. A row's group is the sum of the
 * weights that apply to it, and rows with a smaller sum rank first.
 */
const groupOf = { lastResort: 16, suspect: 8, unscored: 4, otherVoice: 2, elsewhere: 1 }

/** Copies the rows' indexes in the catalog's tables, because they are read often and each row is a separate object. */
function ordersOf(rows: readonly Row[]): Int32Array {
  const orders = new Int32Array(rows.length)
  for (let i = 0; i < rows.length; i++) orders[i] = (rows[i] as Row).order
  return orders
}

/** Returns each row's group. A provider's rows are next to each other, so its health is queried once. */
function groupsOf(
  rows: readonly Row[],
  orders: Int32Array,
  { lastResort, regional }: FigureTable,
  standing: Standing,
): Int32Array {
  const groups = new Int32Array(rows.length)
  let provider: unknown = null
  let suspect = 0
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row
    const order = orders[i] as number
    if (row.provider !== provider) suspect = standing.suspect(row) ? groupOf.suspect : 0
    provider = row.provider
    const elsewhere = regional[order] === 1 ? 0 : groupOf.elsewhere
    groups[i] = suspect + elsewhere + (lastResort[order] === 1 ? groupOf.lastResort : 0)
  }
  return groups
}

/** Moves the rows without a voice of the requested gender to a later group. */
function addOtherVoices(groups: Int32Array, rows: readonly Row[], { gender, language }: Projection): void {
  if (gender === null || gender === 'neutral') return
  for (let i = 0; i < rows.length; i++)
    if (lacksVoice((rows[i] as Row).model, gender, language)) groups[i] = (groups[i] as number) + groupOf.otherVoice
}

/**
 * Makes empty columns in one block, because a typed array's memory is outside the heap and its allocation costs about 1
 * µs.
 */
function emptyColumns(count: number): Columns {
  const block = new Float64Array(5 * count)
  const part = (index: number) => block.subarray(index * count, (index + 1) * count)
  return { quality: part(0), latency: part(1), cost: part(2), successRate: part(3), score: part(4) }
}

function fill(column: Column, orders: Int32Array, values: Float64Array | null): void {
  if (values === null) column.fill(Number.NaN)
  else for (let i = 0; i < column.length; i++) column[i] = values[orders[i] as number] as number
}

/** Adds the figures measured by this server. A measured latency replaces a published latency. */
function addMeasured(
  { latency, successRate }: Columns,
  rows: readonly Row[],
  { stage, path }: Projection,
  standing: Standing,
): void {
  const measured = measuredLatency[stage][path]
  for (let i = 0; i < rows.length; i++) {
    const live = standing.live(rows[i] as Row, path)
    if (live === null) continue
    const time = live[measured]
    if (time !== null) latency[i] = -time
    successRate[i] = 1 - live.errorRate
  }
}

const unitsOfOne = 1_000_000

/**
 * Sets the lowest bit in a row's sort key if the row is outside the region. No other code sets this bit, so the region
 * only orders otherwise equal rows.
 */
function putRegionFirst(places: Int32Array, rows: readonly Row[], region: string): void {
  for (const [i, { provider }] of rows.entries()) if (provider.region !== region) places[i] = (places[i] as number) | 1
}

/**
 * Writes the scores. Returns each row's sort key, a 28-bit number: by group, then by descending score, then by the
 * number of unknown parts.
 */
function weigh(
  columns: Columns,
  { groups, rows, objective }: { groups: Int32Array; rows: readonly Row[]; objective: Objective },
): Int32Array {
  const { quality, latency, cost, successRate, score } = columns
  const weight = weights[objective]
  const lead = columns[leading[objective]]
  const places = new Int32Array(groups.length)
  for (let i = 0; i < groups.length; i++) {
    const q = quality[i] as number
    const l = latency[i] as number
    const c = cost[i] as number
    const sum = weight.quality * (q || 0) + weight.latency * (l || 0) + weight.cost * (c || 0)
    // Truncates with `| 0`, because `Math.round` takes as long as the rest of this function. The sum is never negative,
    // so adding 0.5 first rounds correctly.
    const units = (sum * (successRate[i] as number) * unitsOfOne + 0.5) | 0
    const isUnscored = Number.isNaN(lead[i]) || (rows[i] as Row).model.scoredFor?.includes(objective) === false
    score[i] = isUnscored ? Number.NaN : units / unitsOfOne
    const missing = Number(Number.isNaN(q)) + Number(Number.isNaN(l)) + Number(Number.isNaN(c))
    const group = (groups[i] as number) + (isUnscored ? groupOf.unscored : 0)
    places[i] = (group << 23) | ((unitsOfOne - units) << 3) | (missing << 1)
  }
  return places
}

/** A row in the ranking. It reads the columns only on request, because the columns of most rows are never needed. */
class RankedRow implements Scored {
  readonly row: Row
  readonly #columns: Columns
  readonly #index: number

  constructor(row: Row, columns: Columns, index: number) {
    this.row = row
    this.#columns = columns
    this.#index = index
  }

  get score(): number | null {
    return this.#figure('score')
  }

  get parts(): Parts {
    return { quality: this.#figure('quality'), latency: this.#figure('latency'), cost: this.#figure('cost') }
  }

  get successRate(): number {
    return this.#figure('successRate') ?? 1
  }

  #figure(name: keyof Columns): number | null {
    const value = this.#columns[name][this.#index] as number
    return Number.isNaN(value) ? null : value
  }
}

/**
 * Chooses the scale for the quality figures, because figures from two test sets cannot be compared. Scales with two or
 * more providers are preferred, then the scale nearest to the language, then the scale with the most rows. If a vendor
 * reports figures only for its models, the scale compares it with no other provider and is not used.
 */
function scaleFor(rows: readonly Row[], orders: Int32Array, scales: readonly Scale[]): Scale | null {
  let best: Width | null = null
  for (const scale of scales) {
    const width = widthOf(rows, orders, scale)
    const isAlone = width.providers < 2 && scale.vendorReported && width.count < rows.length
    if (width.count === 0 || isAlone) continue
    if (best === null || isBetter(width, best)) best = width
  }
  return best?.scale ?? null
}

/** How many rows and how many providers have a figure on a scale. */
type Width = { scale: Scale; providers: number; count: number }

function isBetter(a: Width, b: Width): boolean {
  const compares = Number(b.providers > 1) - Number(a.providers > 1)
  const nearer = a.scale.nearness - b.scale.nearness
  return (
    (compares || nearer || b.count - a.count || Number(a.scale.vendorReported) - Number(b.scale.vendorReported)) < 0
  )
}

/**
 * Counts the rows and providers on a scale. A provider's rows are next to each other, so each change of provider
 * counts.
 */
function widthOf(rows: readonly Row[], orders: Int32Array, scale: Scale): Width {
  let providers = 0
  let count = 0
  let last: unknown = null
  for (let i = 0; i < orders.length; i++) {
    // If a row is not in the catalog, its order is outside the tables.
    if (!Number.isFinite(scale.values[orders[i] as number])) continue
    const { provider } = rows[i] as Row
    count += 1
    if (provider !== last) providers += 1
    last = provider
  }
  return { scale, providers, count }
}

/**
 * Normalises figures in place to 0…1. If all figures are equal, all become 1. Last-resort rows do not count for the
 * range, because their zero cost would distort it. They count only if there are no other rows.
 */
function normalise(values: Column, groups: Int32Array): void {
  let { best, worst } = rangeOf(values, groups, groupOf.lastResort)
  if (best < worst) ({ best, worst } = rangeOf(values, groups, Number.POSITIVE_INFINITY))
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    // Only last-resort rows can be outside the range, and their figures become 0 or 1. NaN remains NaN.
    values[i] = value >= best ? 1 : value <= worst ? 0 : (value - worst) / (best - worst)
  }
}

/** Returns the range over rows in groups below `below`. If there is no figure, best is less than worst. */
function rangeOf(values: Column, groups: Int32Array, below: number) {
  let best = Number.NEGATIVE_INFINITY
  let worst = Number.POSITIVE_INFINITY
  for (let i = 0; i < values.length; i++) {
    if ((groups[i] as number) >= below) continue
    const value = values[i] as number
    if (value > best) best = value
    if (value < worst) worst = value
  }
  return { best, worst }
}
