import type { Row } from '../catalog/catalog.ts'
import type { LiveFigures } from '../health/live-figures.ts'
import type { Objective, Path, Stage } from '../ports/model.ts'
import type { FigureTable, Scale } from './figure-table.ts'
import type { RadixSort } from './radix-sort.ts'
import { type Axis, axes, leading, measuredLatency, weights } from './weights.ts'

/** `region` is the wish of the caller: it orders equal rows, those of providers that name it first. */
export type Projection = { stage: Stage; path: Path; objective: Objective; region?: string | undefined }

/** 1 is the best of the rows that were ranked together, 0 the worst, null is not known. */
export type Parts = Record<Axis, number | null>
export type Scored = {
  readonly row: Row
  /** Rounded to six digits. */
  readonly score: number | null
  readonly parts: Parts
  /** The part of the recent attempts that succeeded; 1 where too few were made. The score is multiplied by it. */
  readonly successRate: number
}
export type Ranking = {
  scored: Scored[]
  /** The scale that the quality was read on; null where no scale compares these rows. */
  scale: Scale | null
  /** Whether the region has changed the order. */
  isRegional: boolean
}

/** Facts about a row that `Health` knows. */
export type Standing = {
  live: (row: Row, path: Path) => LiveFigures | null
  /** Whether its provider has stopped answering, so that it is placed behind every provider that has not. */
  suspect: (row: Row) => boolean
}

/** A number for each row, in the order of the rows. NaN is a figure that is not known. */
type Column = Float64Array
type Columns = Record<Axis | 'score' | 'successRate', Column>

/**
 * Best first. Figures are normalised only within one scale and only among these rows. A part that is not known adds nothing. Without the
 * objective's leading figure there is no score, and the row is placed behind those that have one. A last resort is behind everything.
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
  const columns = emptyColumns(rows.length)
  fill(columns.quality, orders, scale?.values ?? null)
  fill(columns.latency, orders, table.latency)
  fill(columns.cost, orders, table.cost)
  columns.successRate.fill(1)
  addMeasured(columns, rows, projection, standing)
  for (const axis of axes) normalise(columns[axis], groups)
  const places = weigh(columns, groups, projection.objective)
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

/** Each of these puts a row behind all rows that have fewer of them, however they score. They add up, the heaviest first. */
const groupOf = { lastResort: 8, suspect: 4, unscored: 2, elsewhere: 1 }

/** The places of the rows in the catalog's tables. They are read often, and each row is a separate object to visit. */
function ordersOf(rows: readonly Row[]): Int32Array {
  const orders = new Int32Array(rows.length)
  for (let i = 0; i < rows.length; i++) orders[i] = (rows[i] as Row).order
  return orders
}

/** Rows of one provider are next to each other, so its health is asked once. */
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

/** The columns are parts of one block, because the memory of a typed array is allocated outside the heap and costs about 1 µs. */
function emptyColumns(count: number): Columns {
  const block = new Float64Array(5 * count)
  const part = (index: number) => block.subarray(index * count, (index + 1) * count)
  return { quality: part(0), latency: part(1), cost: part(2), successRate: part(3), score: part(4) }
}

function fill(column: Column, orders: Int32Array, values: Float64Array | null): void {
  if (values === null) column.fill(Number.NaN)
  else for (let i = 0; i < column.length; i++) column[i] = values[orders[i] as number] as number
}

/** A time that was measured here goes before a published one. */
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

/** The last bit of a place is 0 unless this sets it, so that it only orders rows which are equal otherwise. */
function putRegionFirst(places: Int32Array, rows: readonly Row[], region: string): void {
  for (const [i, { provider }] of rows.entries()) if (provider.region !== region) places[i] = (places[i] as number) | 1
}

/** Writes the scores. Answers the place of each row: a number of 27 bits, by group, then the score falling, then fewer unknown parts. */
function weigh(columns: Columns, groups: Int32Array, objective: Objective): Int32Array {
  const { quality, latency, cost, successRate, score } = columns
  const weight = weights[objective]
  const lead = columns[leading[objective]]
  const places = new Int32Array(groups.length)
  for (let i = 0; i < groups.length; i++) {
    const q = quality[i] as number
    const l = latency[i] as number
    const c = cost[i] as number
    const sum = weight.quality * (q || 0) + weight.latency * (l || 0) + weight.cost * (c || 0)
    // Cut and not Math.round, which takes as long as all the rest here: the sum is never negative.
    const units = (sum * (successRate[i] as number) * unitsOfOne + 0.5) | 0
    const isUnscored = Number.isNaN(lead[i])
    score[i] = isUnscored ? Number.NaN : units / unitsOfOne
    const missing = Number(Number.isNaN(q)) + Number(Number.isNaN(l)) + Number(Number.isNaN(c))
    const group = (groups[i] as number) + (isUnscored ? groupOf.unscored : 0)
    places[i] = (group << 23) | ((unitsOfOne - units) << 3) | (missing << 1)
  }
  return places
}

/** Reads the columns only when a member is read, because most rows of a decision are never looked at. */
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
 * One scale is used at a time, because what was measured on two test sets cannot be compared: the nearest to the language on which two
 * providers can be compared, and of those the widest. Figures of a vendor's models alone, reported by that vendor, compare it with no other provider.
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

/** How many rows, and of how many providers, have a figure on a scale. */
type Width = { scale: Scale; providers: number; count: number }

function isBetter(a: Width, b: Width): boolean {
  const compares = Number(b.providers > 1) - Number(a.providers > 1)
  const nearer = a.scale.nearness - b.scale.nearness
  return (
    (compares || nearer || b.count - a.count || Number(a.scale.vendorReported) - Number(b.scale.vendorReported)) < 0
  )
}

/** Rows of one provider are next to each other. */
function widthOf(rows: readonly Row[], orders: Int32Array, scale: Scale): Width {
  let providers = 0
  let count = 0
  let last: unknown = null
  for (let i = 0; i < orders.length; i++) {
    // A row that the catalog does not have is outside of its tables.
    if (!Number.isFinite(scale.values[orders[i] as number])) continue
    const { provider } = rows[i] as Row
    count += 1
    if (provider !== last) providers += 1
    last = provider
  }
  return { scale, providers, count }
}

/**
 * In place, to 0…1 over the rows that have a figure. Equal figures are all the best. A last resort does not take part, because its zero
 * cost would set the range, unless there is no other row.
 */
function normalise(values: Column, groups: Int32Array): void {
  let { best, worst } = rangeOf(values, groups, groupOf.lastResort)
  if (best < worst) ({ best, worst } = rangeOf(values, groups, Number.POSITIVE_INFINITY))
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    // A value beyond the range, on either side, is as good as its edge. NaN stays NaN.
    values[i] = value >= best ? 1 : value <= worst ? 0 : (value - worst) / (best - worst)
  }
}

/** Over the rows of the groups below this one. Without a figure the best is below the worst. */
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
