/** Spoils a valid body at one position at a time: a required field left out, a bound passed. */
import type { Schema, SchemaObject } from '../codegen/schema.ts'
import { resolveSchema } from '../codegen/schema.ts'

export type Spoiled = { pointer: string; value: unknown }
type Schemas = Record<string, Schema>

/** The maximum number of reported positions in one body. */
const placesMax = 60

/** Leaves out each required field in the example. */
export function withoutRequired(schema: Schema, example: unknown, schemas: Schemas): Spoiled[] {
  return places(schema, example, schemas).flatMap(({ keys, schema: { required = [] }, value }) =>
    required
      .filter((name) => Object.hasOwn(value as object, name))
      .map((name) => ({ pointer: pointerOf([...keys, name]), value: changed(example, [...keys, name], undefined) })),
  )
}

/** Exceeds each bound for a field in the example: length, range, number of items, listed values. */
export function beyondBounds(schema: Schema, example: unknown, schemas: Schemas): Spoiled[] {
  return places(schema, example, schemas).flatMap(({ keys, schema: { properties = {} }, value }) =>
    Object.keys(value as object).flatMap((name) => {
      const property = resolveSchema(schemas, properties[name] ?? true)
      if (typeof property === 'boolean') return []
      const path = [...keys, name]
      return beyond(property).map((spoiled) => ({ pointer: pointerOf(path), value: changed(example, path, spoiled) }))
    }),
  )
}

/** A string longer than this would only test the body's limit. */
const lengthMax = 100_000

function beyond({ maxLength, maximum, minimum, maxItems, enum: values, type }: SchemaObject): unknown[] {
  const isA = (name: string) => type === name || (Array.isArray(type) && type.includes(name))
  const isNumber = isA('integer') || isA('number')
  return [
    ...(typeof maxLength === 'number' && maxLength < lengthMax && isA('string') ? ['x'.repeat(maxLength + 1)] : []),
    ...(typeof maximum === 'number' && isNumber ? [maximum + 1] : []),
    ...(typeof minimum === 'number' && isNumber ? [minimum - 1] : []),
    ...(typeof maxItems === 'number' && isA('array') ? [Array.from({ length: maxItems + 1 }, () => 'x')] : []),
    ...(values !== undefined ? ['conform-unknown'] : []),
  ]
}

type Place = { keys: readonly string[]; schema: SchemaObject; value: unknown }

/** Returns the example's objects. Alternatives are skipped, because a spoiled value can fit another alternative. */
function places(schema: Schema, value: unknown, schemas: Schemas, keys: readonly string[] = []): Place[] {
  const target = resolveSchema(schemas, schema)
  if (typeof target === 'boolean' || typeof value !== 'object' || value === null) return []
  if (hasAlternatives(target)) return []
  const inner = Object.entries(value).flatMap(([name, field]) => {
    const next = Array.isArray(value) ? target.items : target.properties?.[name]
    return next === undefined ? [] : places(next, field, schemas, [...keys, name])
  })
  return (Array.isArray(value) ? inner : [{ keys, schema: target, value }, ...inner]).slice(0, placesMax)
}

const hasAlternatives = (schema: SchemaObject) => ['oneOf', 'anyOf', 'if', 'not'].some((keyword) => keyword in schema)

/** Returns a copy with another value for one field. The field is left out if the value is undefined. */
function changed(example: unknown, keys: readonly string[], value: unknown): unknown {
  const copy = structuredClone(example)
  const last = keys.at(-1) ?? ''
  const parent = keys.slice(0, -1).reduce((at, key) => (at as Record<string, unknown>)[key], copy) as object
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, value)
  return copy
}

const pointerOf = (keys: readonly string[]) => keys.map((key) => `/${key}`).join('')
