/**
 * Compares a value's schema in two releases. A request's schema must accept everything that it accepted before. A
 * response's schema must allow nothing new, except new fields.
 */
import type { Schema } from '../schema.ts'
import { isUpper, type JsonType, type Part, type Property, shapeOf, typeOf } from './shapes.ts'

/** A change that breaks clients, with its location in the contract. */
export type Break = { place: string; rule: string; detail: string }

export type Direction = 'request' | 'answer'

type Schemas = Record<string, Schema>
/** A value in the earlier release (`before`) and in the later release (`after`). */
type Pair<Value> = { before: Value; after: Value }

export class ValueComparison {
  readonly #surface: string
  readonly #schemas: Pair<Schemas>
  /** The components that were compared, by direction. A component can refer to itself. */
  readonly #seen = new Set<string>()
  readonly breaks: Break[] = []

  constructor(surface: string, schemas: Pair<Schemas>) {
    this.#surface = surface
    this.#schemas = schemas
  }

  /**
   * Adds the breaking changes to `breaks`. `place` names the API and the schema's location, such as `router POST
   * /v1/llm body`.
   */
  compare(direction: Direction, place: string, { before, after }: Pair<Schema>): void {
    const shapes = {
      before: shapeOf(before, this.#schemas.before),
      after: shapeOf(after, this.#schemas.after),
    }
    // In a request the later schema must accept every value of the earlier schema. In a response it is the reverse.
    const [inner, outer] = direction === 'request' ? [shapes.before, shapes.after] : [shapes.after, shapes.before]
    if (outer === null) return
    if (inner === null) return this.#add(direction, place, 'type', 'any type')
    for (const [type, part] of inner) {
      const other = outer.get(type)
      const pair = direction === 'request' ? { before: part, after: other } : { before: other, after: part }
      if (pair.before && pair.after) this.#part(direction, place, type, { before: pair.before, after: pair.after })
      else this.#add(direction, place, 'type', `the type ${type}`)
    }
  }

  #part(direction: Direction, written: string, type: JsonType, pair: Pair<Part>): void {
    const { component } = pair.before
    const place = component === null ? written : `${this.#surface} ${direction} ${component}`
    if (component !== null) {
      const key = `${direction} ${type} ${component} ${pair.after.component}`
      if (this.#seen.has(key)) return
      this.#seen.add(key)
    }
    const [inner, outer] = direction === 'request' ? [pair.before, pair.after] : [pair.after, pair.before]
    if (outer.isInteger && !inner.isInteger) this.#add(direction, place, 'type', 'numbers other than integers')
    // New error codes are allowed. Elsewhere, the table of errors is compared row by row.
    if (direction === 'request' || component !== 'ErrorCode') this.#values(direction, place, inner, outer)
    this.#bounds(direction, place, inner, outer)
    if (type === 'array') {
      this.compare(direction, `${place}[]`, { before: pair.before.items, after: pair.after.items })
    }
    if (type !== 'object') return
    this.#arms(direction, place, pair)
    if (direction === 'request') this.#requestFields(place, pair)
    else this.#answerFields(place, pair)
  }

  #values(direction: Direction, place: string, inner: Part, outer: Part): void {
    if (outer.values === null) return
    if (inner.values === null)
      return this.#add(direction, place, 'value', `values other than ${outer.values.join(', ')}`)
    for (const value of inner.values.filter((value) => !outer.values?.includes(value)))
      this.#add(direction, place, 'value', `the value ${JSON.stringify(value)}`)
  }

  #bounds(direction: Direction, place: string, inner: Part, outer: Part): void {
    const isInside = (bound: string, limit: number) =>
      inner.values !== null && inner.values.every((value) => fits(value, bound, limit))
    for (const [bound, limit] of Object.entries(outer.bounds)) {
      const own = inner.bounds[bound]
      const isWithin = own !== undefined && (isUpper(bound) ? own <= limit : own >= limit)
      if (!isWithin && !(limit === 0 && bound.startsWith('min') && bound !== 'minimum') && !isInside(bound, limit))
        this.#add(direction, place, 'bound', `${bound} ${limit} against ${own ?? 'no bound'}`)
    }
    for (const [name, condition] of Object.entries(outer.conditions))
      if (JSON.stringify(inner.conditions[name]) !== JSON.stringify(condition))
        this.#add(direction, place, 'bound', `${name} ${JSON.stringify(condition)} against another`)
  }

  #arms(direction: Direction, place: string, { before, after }: Pair<Part>): void {
    if (before.arms === null && after.arms === null) return
    if (before.arms === null || after.arms === null)
      return this.#add(direction, place, 'type', 'the union with a discriminator')
    const [inner, outer] = direction === 'request' ? [before.arms, after.arms] : [after.arms, before.arms]
    for (const tag of Object.keys(inner)) {
      const arms = { before: before.arms[tag], after: after.arms[tag] }
      if (tag in outer && arms.before !== undefined && arms.after !== undefined)
        this.compare(direction, `${place}(${tag})`, { before: arms.before, after: arms.after })
      else this.#add(direction, place, 'arm', `the arm ${tag}`)
    }
  }

  #requestFields(place: string, { before, after }: Pair<Part>): void {
    const visible = ([, field]: [string, Property]) => !field.isReadOnly
    for (const [name, field] of Object.entries(before.fields).filter(visible)) {
      const next = after.fields[name]
      if (!next || next.isReadOnly) this.#add('request', `${place}/${name}`, 'field-removed', 'the field')
      else this.compare('request', `${place}/${name}`, { before: field.schema, after: next.schema })
    }
    for (const [name] of Object.entries(after.fields)
      .filter(visible)
      .filter(([, { isRequired }]) => isRequired))
      if (!before.fields[name]?.isRequired) this.#add('request', `${place}/${name}`, 'field-required', 'newly required')
    if (after.rest === true || before.rest === false) return
    if (after.rest === false) this.#add('request', place, 'field-removed', 'fields with other names')
    else this.compare('request', `${place}/*`, { before: before.rest, after: after.rest })
  }

  #answerFields(place: string, { before, after }: Pair<Part>): void {
    const visible = ([, field]: [string, Property]) => !field.isWriteOnly
    for (const [name, field] of Object.entries(before.fields).filter(visible)) {
      const next = after.fields[name]
      if (!next || next.isWriteOnly) {
        this.#add('answer', `${place}/${name}`, 'field-removed', 'the field')
        continue
      }
      if (field.isRequired && !next.isRequired)
        this.#add('answer', `${place}/${name}`, 'field-optional', 'not always sent')
      this.compare('answer', `${place}/${name}`, { before: field.schema, after: next.schema })
    }
    // A type without declared fields is a map. Clients may read any value in it, so the type for values is compared
    // too.
    const isMap = Object.keys(before.fields).length === 0 && typeof before.rest === 'object'
    if (isMap && after.rest !== false) this.compare('answer', `${place}/*`, { before: before.rest, after: after.rest })
  }

  #add(direction: Direction, place: string, kind: string, detail: string): void {
    const said = { request: 'no longer accepted: ', answer: 'new in answers: ' }[direction]
    this.breaks.push({
      place,
      rule: `${direction}-${kind}`,
      detail: kind.startsWith('field') ? detail : said + detail,
    })
  }
}

function fits(value: unknown, bound: string, limit: number): boolean {
  const size = typeOf(value) === 'string' ? [...(value as string)].length : typeof value === 'number' ? value : 0
  return isUpper(bound) ? size <= limit : size >= limit
}
