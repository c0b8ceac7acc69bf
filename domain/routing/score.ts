import type { Row } from '../catalog/catalog.ts'
import type { Objective, Path, Stage } from '../catalog/model.ts'
import type { LiveFigures } from '../health/live-figures.ts'
import type { FigureTable, Scale } from './figure-table.ts'
import { rising } from './radix-sort.ts'
import { type Axis, axes, leading, measuredLatency, weights } from './weights.ts'

export type Projection = { stage: Stage; path: Path; objective: Objective }

/** 1 is the best of the rows that were ranked together, 0 the worst, null is not known. */
export type Parts = Record<Axis, number | null>
export type Scored = {
  readonly row: Row
  /** Rounded to six digits. */
  readonly score: number | null
  readonly parts: Parts
  /** What part of the attempts of late have succeeded; 1 where too few were made. The score is multiplied by it. */
  readonly successRate: number
}
export type Ranking = {
  scored: Scored[]
  /** What the quality was read on; null where nothing compares these rows. */
  scale: Scale | null
}

/** What the health has to say of a row. */
export type Standing = {
  live: (row: Row, path: Path) => LiveFigures | null
  /** Whether its provider has stopped answering: it stands behind everybody whose provider has not. */
  suspect: (row: Row) => boolean
}

/**
 * Best first. Figures are normalised only within one scale and only among these rows. A part that is not known adds nothing; without
 * the objective's leading figure there is no score, and the row stands behind those that have one. A stand-in stands behind everything.
 */
export function rank(rows: readonly Row[], table: FigureTable, projection: Projection, standing: Standing): Ranking {
  const count = rows.length
  if (count > room.rows) room = roomOf(2 * count)
  lookUp(rows, table, standing)
  const scale = scaleFor(count, table.scales)
  const figures = new Float64Array(count * figuresARow)
  collect(rows, table, scale, projection, standing, figures)
  for (const axis of axes) normalise(figures, count * columnOf[axis], count)
  weigh(figures, projection.objective, count)
  const order = rising(room.places, count)
  const scored = rows.map((_, i) => {
    const index = order[i] as number
    return new RankedRow(rows[index] as Row, figures, index)
  })
  return { scored, scale }
}

/**
 * Where one ranking is worked out, and the next again: four arrays for each would cost as much as filling them. A ranking never waits, so no two are
 * in here at a time.
 */
type Room = {
  rows: number
  /** Of each row: its place in the catalog, which of the providers it is of, and what decides before its score. */
  orders: Int32Array
  houses: Int32Array
  groups: Int32Array
  places: Int32Array
}

let room = roomOf(256)

function roomOf(rows: number): Room {
  const whole = () => new Int32Array(rows)
  return { rows, orders: whole(), houses: whole(), groups: whole(), places: whole() }
}

/** What puts a row behind all that have less of it, whatever they score; added up. */
const groupOf = { lastResort: 8, suspect: 4, unscored: 2, elsewhere: 1 }

/** Rows of one provider stand together. */
function lookUp(rows: readonly Row[], { lastResort, regional }: FigureTable, standing: Standing): void {
  const { orders, houses, groups } = room
  let last: unknown = null
  let house = 0
  let suspect = 0
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row
    const { order, provider } = row
    if (provider !== last) {
      last = provider
      house += 1
      suspect = standing.suspect(row) ? groupOf.suspect : 0
    }
    orders[i] = order
    houses[i] = house
    groups[i] =
      suspect + (lastResort[order] === 1 ? groupOf.lastResort : 0) + (regional[order] === 1 ? 0 : groupOf.elsewhere)
  }
}

const unitsOfOne = 1_000_000

/** From the columns of figures: the scores, and the place of each row in the order. */
function weigh(figures: Float64Array, objective: Objective, count: number): void {
  const { groups, places } = room
  const { quality: qualityWeight, latency: latencyWeight, cost: costWeight } = weights[objective]
  const lead = count * columnOf[leading[objective]]
  for (let i = 0; i < count; i++) {
    const quality = figures[count * columnOf.quality + i] as number
    const latency = figures[count * columnOf.latency + i] as number
    const cost = figures[count * columnOf.cost + i] as number
    const successRate = figures[count * successColumn + i] as number
    const sum = qualityWeight * known(quality) + latencyWeight * known(latency) + costWeight * known(cost)
    // Cut and not Math.round, which takes as long as all the rest here: the sum is never negative.
    const units = (sum * successRate * unitsOfOne + 0.5) | 0
    const isUnscored = Number.isNaN(figures[lead + i])
    figures[i] = isUnscored ? Number.NaN : units / unitsOfOne
    const missing = Number(Number.isNaN(quality)) + Number(Number.isNaN(latency)) + Number(Number.isNaN(cost))
    places[i] = place((groups[i] as number) + (isUnscored ? groupOf.unscored : 0), units, missing)
  }
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value
}

/** What a row is sorted by, within 26 bits: its group, then the score falling, then fewer unknown parts. */
function place(group: number, units: number, missing: number): number {
  return (group << 22) | ((unitsOfOne - units) << 2) | missing
}

/** The figures of a ranking: one column after the other, the scores first. */
const columnOf: Record<Axis, number> = { quality: 1, latency: 2, cost: 3 }
const successColumn = 4
const figuresARow = 5

/** What is said of a row, read out of the figures of all rows when somebody asks: most rows of a decision are never looked at. */
class RankedRow implements Scored {
  readonly row: Row
  readonly #figures: Float64Array
  readonly #index: number

  constructor(row: Row, figures: Float64Array, index: number) {
    this.row = row
    this.#figures = figures
    this.#index = index
  }

  get score(): number | null {
    return this.#figure(0)
  }

  get parts(): Parts {
    return {
      quality: this.#figure(columnOf.quality),
      latency: this.#figure(columnOf.latency),
      cost: this.#figure(columnOf.cost),
    }
  }

  get successRate(): number {
    return this.#figure(successColumn) ?? 1
  }

  #figure(column: number): number | null {
    const value = this.#figures[(this.#figures.length / figuresARow) * column + this.#index] as number
    return Number.isNaN(value) ? null : value
  }
}

/**
 * One scale is used at a time, because what was measured on two test sets cannot be compared: the nearest to the language on which two
 * providers can be compared, and of those the widest. What a vendor says of its own models alone compares it with nobody.
 */
function scaleFor(count: number, scales: readonly Scale[]): Scale | null {
  let best: { scale: Scale; providers: number; count: number } | null = null
  for (const scale of scales) {
    const width = widthOf(count, scale)
    const isAlone = width.providers < 2 && scale.vendorReported && width.count < count
    if (width.count === 0 || isAlone) continue
    if (best === null || isBetter({ scale, ...width }, best)) best = { scale, ...width }
  }
  return best?.scale ?? null
}

type Width = { scale: Scale; providers: number; count: number }

function isBetter(a: Width, b: Width): boolean {
  const compares = Number(b.providers > 1) - Number(a.providers > 1)
  const nearer = a.scale.nearness - b.scale.nearness
  return (
    (compares || nearer || b.count - a.count || Number(a.scale.vendorReported) - Number(b.scale.vendorReported)) < 0
  )
}

function widthOf(rows: number, { values }: Scale): { providers: number; count: number } {
  const { orders, houses } = room
  let providers = 0
  let count = 0
  let last = 0
  for (let i = 0; i < rows; i++) {
    if (Number.isNaN(values[orders[i] as number])) continue
    const house = houses[i] as number
    count += 1
    if (house !== last) providers += 1
    last = house
  }
  return { providers, count }
}

/** One number a row in each column, as it was measured or published, and the success rates. */
function collect(
  rows: readonly Row[],
  { latency, cost }: FigureTable,
  scale: Scale | null,
  { stage, path }: Projection,
  standing: Standing,
  figures: Float64Array,
): void {
  const { orders } = room
  const count = rows.length
  const quality = scale?.values ?? null
  for (let i = 0; i < count; i++) {
    const order = orders[i] as number
    figures[count * columnOf.quality + i] = quality === null ? Number.NaN : (quality[order] as number)
    figures[count * columnOf.latency + i] = latency[order] as number
    figures[count * columnOf.cost + i] = cost[order] as number
    figures[count * successColumn + i] = 1
  }
  const measured = measuredLatency[stage][path]
  for (let i = 0; i < count; i++) {
    const live = standing.live(rows[i] as Row, path)
    if (live === null) continue
    const time = live[measured]
    // What was measured here goes before what was published.
    if (time !== null) figures[count * columnOf.latency + i] = -time
    figures[count * successColumn + i] = 1 - live.errorRate
  }
}

/**
 * To 0…1 over the rows that have a figure. Equal figures are all the best. A stand-in is not part of the field, because its zero cost would
 * set the scale, unless there is nobody else.
 */
function normalise(figures: Float64Array, from: number, count: number): void {
  let { best, worst } = range(figures, from, count, groupOf.lastResort)
  if (best < worst) ({ best, worst } = range(figures, from, count, Number.POSITIVE_INFINITY))
  for (let i = from; i < from + count; i++) {
    const value = figures[i] as number
    // What is beyond the field, on either side, is as good as its edge. What is not known stays so.
    figures[i] = value >= best ? 1 : value <= worst ? 0 : (value - worst) / (best - worst)
  }
}

/** Of the rows in the groups before this one; without any, the best is below the worst. */
function range(figures: Float64Array, from: number, count: number, before: number): { best: number; worst: number } {
  const { groups } = room
  let best = Number.NEGATIVE_INFINITY
  let worst = Number.POSITIVE_INFINITY
  for (let i = 0; i < count; i++) {
    if ((groups[i] as number) >= before) continue
    const value = figures[from + i] as number
    if (value > best) best = value
    if (value < worst) worst = value
  }
  return { best, worst }
}
