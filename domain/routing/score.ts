import type { Row } from './catalog.ts'
import type { FigureTable, Scale } from './figure-table.ts'
import type { LiveFigures } from './live-figures.ts'
import type { Objective, Path, Stage } from './model.ts'
import { type Axis, leading, measuredLatency, weights } from './weights.ts'

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
  const { objective } = projection
  room = roomFor(rows.length, room)
  const scale = scaleFor(rows, table.scales)
  const figures = new Float64Array(rows.length * figuresARow)
  const columns = normalisedColumns(rows, standing, table, scale, projection, figures)
  const weight = weights[objective]
  const lead = columns[leading[objective]]
  const { places } = room
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row
    const at = i * figuresARow
    figures[at + 1] = columns.quality[i] as number
    figures[at + 2] = columns.latency[i] as number
    figures[at + 3] = columns.cost[i] as number
    const successRate = figures[at + 4] as number
    const sum =
      weight.quality * known(columns.quality, i) +
      weight.latency * known(columns.latency, i) +
      weight.cost * known(columns.cost, i)
    const units = Math.round(sum * successRate * unitsOfOne)
    const score = Number.isNaN(lead[i]) ? null : units / unitsOfOne
    figures[at] = score ?? Number.NaN
    const group =
      (row.model.lastResort ? 8 : 0) +
      (standing.suspect(row) ? 4 : 0) +
      (score === null ? 2 : 0) +
      (table.regional[row.order] === 1 ? 0 : 1)
    places[i] = place(group, units, missing(columns, i))
  }
  const order = rising(rows.length, room)
  const scored: Scored[] = []
  for (let i = 0; i < rows.length; i++) {
    const index = order[i] as number
    scored.push(new RankedRow(rows[index] as Row, figures, index * figuresARow))
  }
  return { scored, scale }
}

/**
 * Where one ranking is worked out, and the next again: nine arrays for each would cost as much as filling them. A ranking never waits, so no two are
 * in here at a time.
 */
type Room = {
  rows: number
  columns: Record<Axis, Float64Array>
  places: Uint32Array
  from: Uint32Array
  to: Uint32Array
  starts: Uint32Array
}

const digitBits = 9
const digitMask = 2 ** digitBits - 1
let room = roomOf(256)

function roomFor(rows: number, known: Room): Room {
  return rows <= known.rows ? known : roomOf(2 * rows)
}

function roomOf(rows: number): Room {
  const column = () => new Float64Array(rows)
  const whole = () => new Uint32Array(rows)
  const columns = { quality: column(), latency: column(), cost: column() }
  return { rows, columns, places: whole(), from: whole(), to: whole(), starts: new Uint32Array(digitMask + 2) }
}

const unitsOfOne = 1_000_000

/** What a row is sorted by, within 27 bits: its group, then the score falling, then fewer unknown parts. */
function place(group: number, units: number, missing: number): number {
  return (group << 22) | ((unitsOfOne - units) << 2) | missing
}

const keyBits = 27

/**
 * Indexes of the places in rising order; equal ones keep the order of the catalog. A radix sort in plain loops: half of a decision would otherwise
 * go into comparing rows.
 */
function rising(count: number, { places, starts, ...room }: Room): Uint32Array {
  let { from, to } = room
  for (let i = 0; i < count; i++) from[i] = i
  for (let shift = 0; shift < keyBits; shift += digitBits) {
    findStarts(count, places, shift, starts)
    for (let i = 0; i < count; i++) {
      const index = from[i] as number
      const digit = ((places[index] as number) >>> shift) & digitMask
      const at = starts[digit] as number
      to[at] = index
      starts[digit] = at + 1
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** Where the places with each digit begin, once they are sorted by it. */
function findStarts(count: number, places: Uint32Array, shift: number, starts: Uint32Array): void {
  starts.fill(0)
  for (let i = 0; i < count; i++) {
    const above = (((places[i] as number) >>> shift) & digitMask) + 1
    starts[above] = (starts[above] as number) + 1
  }
  for (let digit = 1; digit < starts.length; digit++)
    starts[digit] = (starts[digit] as number) + (starts[digit - 1] as number)
}

function missing({ quality, latency, cost }: Record<Axis, Float64Array>, index: number): number {
  return Number(Number.isNaN(quality[index])) + Number(Number.isNaN(latency[index])) + Number(Number.isNaN(cost[index]))
}

function known(column: Float64Array, index: number): number {
  const value = column[index] as number
  return Number.isNaN(value) ? 0 : value
}

/** Score, quality, latency, cost, success rate. */
const figuresARow = 5

/** What is said of a row, read out of the figures of all rows when somebody asks: most rows of a decision are never looked at. */
class RankedRow implements Scored {
  readonly row: Row
  readonly #figures: Float64Array
  readonly #at: number

  constructor(row: Row, figures: Float64Array, at: number) {
    this.row = row
    this.#figures = figures
    this.#at = at
  }

  get score(): number | null {
    return this.#figure(0)
  }

  get parts(): Parts {
    return { quality: this.#figure(1), latency: this.#figure(2), cost: this.#figure(3) }
  }

  get successRate(): number {
    return this.#figures[this.#at + 4] as number
  }

  #figure(place: number): number | null {
    const value = this.#figures[this.#at + place] as number
    return Number.isNaN(value) ? null : value
  }
}

/**
 * One scale is used at a time, because what was measured on two test sets cannot be compared: the nearest to the language on which two
 * providers can be compared, and of those the widest. What a vendor says of its own models alone compares it with nobody.
 */
function scaleFor(rows: readonly Row[], scales: readonly Scale[]): Scale | null {
  let best: { scale: Scale; providers: number; count: number } | null = null
  for (const scale of scales) {
    const width = widthOf(rows, scale)
    const isAlone = width.providers < 2 && scale.interested && width.count < rows.length
    if (width.count === 0 || isAlone) continue
    if (best === null || isBetter({ scale, ...width }, best)) best = { scale, ...width }
  }
  return best?.scale ?? null
}

type Width = { scale: Scale; providers: number; count: number }

function isBetter(a: Width, b: Width): boolean {
  const compares = Number(b.providers > 1) - Number(a.providers > 1)
  const nearer = a.scale.nearness - b.scale.nearness
  return (compares || nearer || b.count - a.count || Number(a.scale.interested) - Number(b.scale.interested)) < 0
}

/** Rows of one provider stand together. */
function widthOf(rows: readonly Row[], { values }: Scale): { providers: number; count: number } {
  let providers = 0
  let count = 0
  let last: unknown = null
  for (const { provider, order } of rows) {
    if (Number.isNaN(values[order])) continue
    count += 1
    if (provider !== last) providers += 1
    last = provider
  }
  return { providers, count }
}

/** One number a row, in the order of the rows. The success rates go into `figures`. */
function normalisedColumns(
  rows: readonly Row[],
  standing: Standing,
  table: FigureTable,
  scale: Scale | null,
  { stage, path }: Projection,
  figures: Float64Array,
): Record<Axis, Float64Array> {
  const measured = measuredLatency[stage][path]
  const { columns } = room
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row
    const { order } = row
    const live = standing.live(row, path)
    const time = live?.[measured] ?? null
    figures[i * figuresARow + 4] = 1 - (live?.errorRate ?? 0)
    columns.quality[i] = scale ? (scale.values[order] as number) : Number.NaN
    // What was measured here goes before what was published.
    columns.latency[i] = time === null ? (table.latency[order] as number) : -time
    columns.cost[i] = table.cost[order] as number
  }
  for (const each of [columns.quality, columns.latency, columns.cost]) normalise(each, rows)
  return columns
}

/**
 * To 0…1 over the rows that have a figure. Equal figures are all the best. A stand-in is not part of the field, because its zero cost would
 * set the scale, unless there is nobody else.
 */
function normalise(values: Float64Array, rows: readonly Row[]): void {
  let [best, worst] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  let [bestOfAll, worstOfAll] = [best, worst]
  for (let i = 0; i < rows.length; i++) {
    const value = values[i] as number
    if (value > bestOfAll) bestOfAll = value
    if (value < worstOfAll) worstOfAll = value
    if ((rows[i] as Row).model.lastResort) continue
    if (value > best) best = value
    if (value < worst) worst = value
  }
  if (best < worst) [best, worst] = [bestOfAll, worstOfAll]
  for (let i = 0; i < rows.length; i++) {
    const value = values[i] as number
    // What is beyond the field, on either side, is as good as its edge. What is not known stays so.
    values[i] = value >= best ? 1 : value <= worst ? 0 : (value - worst) / (best - worst)
  }
}
