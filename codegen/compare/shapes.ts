/**
 * Splits a schema into one part for each JSON type, so that two schemas can be compared part by part. References, allOf
 * and unions are resolved. The rule `union-arm` (rules-models.ts) makes this possible: without a discriminator, a union
 * has one member (arm) for each JSON type.
 */
import { refName, resolveSchema, type Schema, type SchemaObject } from '../schema.ts'

export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'

/** A schema's part for the values with one JSON type. */
export type Part = {
  /** The component with this part in its schema. Null for an inline schema. */
  component: string | null
  isInteger: boolean
  /** The values of enum or const. Null if any value fits. */
  values: unknown[] | null
  /** Keywords with a number: minLength, maximum, maxItems. */
  bounds: Record<string, number>
  /** Keywords without an order from wide to narrow: pattern, format, conditions. */
  conditions: Record<string, unknown>
  fields: Record<string, Property>
  /** The schema for additional fields. False if the object allows no additional fields. */
  rest: Schema
  items: Schema
  /** The members (arms) of a union with a discriminator, by the discriminator's value. Null without a discriminator. */
  arms: Record<string, Schema> | null
}

export type Property = { schema: Schema; isRequired: boolean; isReadOnly: boolean; isWriteOnly: boolean }

/** A schema's parts by JSON type. Null if the schema allows any value. */
export type Shape = Map<JsonType, Part> | null

type Schemas = Record<string, Schema>

const jsonTypes: readonly JsonType[] = ['string', 'number', 'boolean', 'null', 'object', 'array']
/** The keywords in `conditions`, with the JSON type to which each applies. Null if it applies to all types. */
const conditionTypes: Record<string, JsonType | null> = {
  pattern: 'string',
  format: 'string',
  multipleOf: 'number',
  uniqueItems: 'array',
  contains: 'array',
  propertyNames: 'object',
  dependentRequired: 'object',
  dependentSchemas: 'object',
  not: null,
  if: null,
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: null,
  else: null,
}

export function shapeOf(schema: Schema, schemas: Schemas, component: string | null = null): Shape {
  if (schema === true) return null
  if (schema === false) return new Map()
  const { $ref, allOf = [], oneOf } = schema
  const arms = oneOf ?? (schema['anyOf'] as Schema[] | undefined)
  const shapes = [ownShape(schema, schemas, component), ...allOf.map((part) => shapeOf(part, schemas))]
  if ($ref !== undefined) shapes.push(shapeOf(schemas[refName($ref)] ?? true, schemas, refName($ref)))
  if (arms) shapes.push(unionOf(schema, arms, schemas, component))
  return shapes.reduce((both, shape) => intersection(both, shape, component))
}

/**
 * Returns the shape that the keywords beside `$ref`, allOf and unions describe. Null if no such keyword limits the
 * value.
 */
function ownShape(schema: SchemaObject, schemas: Schemas, component: string | null): Shape {
  const values = schema.enum ?? ('const' in schema ? [schema['const']] : null)
  const types = [schema.type ?? impliedTypes(schema, values)].flat()
  if (types.length === 0) return null
  return new Map(
    types.map((type) => {
      const jsonType = type === 'integer' ? 'number' : (type as JsonType)
      return [jsonType, { ...ownPart(schema, jsonType, values, schemas), component, isInteger: type === 'integer' }]
    }),
  )
}

function impliedTypes(schema: SchemaObject, values: unknown[] | null): string[] {
  if (values) return [...new Set(values.map(typeOf))]
  if (schema.properties ?? schema.required ?? schema['additionalProperties']) return ['object']
  return schema.items === undefined ? [] : ['array']
}

export function typeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonType
}

function ownPart(schema: SchemaObject, type: JsonType, values: unknown[] | null, schemas: Schemas): Part {
  const isClosed = schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false
  return {
    component: null,
    isInteger: false,
    // Null is the only value of its type, with or without an enum.
    values: type === 'null' ? null : (values?.filter((value) => typeOf(value) === type) ?? null),
    bounds: Object.fromEntries(Object.entries(schema).filter(([name]) => keywordType(name) === type)) as Part['bounds'],
    conditions: conditionsOf(schema, type),
    fields: fieldsOf(schema, schemas),
    rest: isClosed ? false : ((schema['additionalProperties'] as Schema | undefined) ?? true),
    items: schema.items ?? true,
    arms: null,
  }
}

function conditionsOf(schema: SchemaObject, type: JsonType): Part['conditions'] {
  const names = Object.keys(schema).filter((name) => [null, type].includes(conditionTypes[name] as JsonType | null))
  return Object.fromEntries(names.map((name) => [name, schema[name]]))
}

/** Returns the JSON type to which the bound applies. Undefined if the keyword is not a bound. */
function keywordType(keyword: string): JsonType | undefined {
  if (/^(min|max)Length$/.test(keyword)) return 'string'
  if (/^(min|max)Items$/.test(keyword)) return 'array'
  if (/^(min|max)Properties$/.test(keyword)) return 'object'
  return /^(exclusiveM|m)(in|ax)imum$/.test(keyword) ? 'number' : undefined
}

function fieldsOf({ properties = {}, required = [] }: SchemaObject, schemas: Schemas): Record<string, Property> {
  const names = new Set([...Object.keys(properties), ...required])
  return Object.fromEntries(
    [...names].map((name) => {
      const schema = properties[name] ?? true
      const sides = [schema, resolveSchema(schemas, schema)]
      const isMarked = (keyword: string) => sides.some((side) => typeof side === 'object' && side[keyword] === true)
      const isRequired = required.includes(name)
      return [name, { schema, isRequired, isReadOnly: isMarked('readOnly'), isWriteOnly: isMarked('writeOnly') }]
    }),
  )
}

function unionOf({ discriminator }: SchemaObject, arms: Schema[], schemas: Schemas, component: string | null): Shape {
  if (discriminator) {
    const tag = discriminator.propertyName
    const part = { ...ownPart({ type: 'object' }, 'object', null, schemas), component }
    const byValue = arms.flatMap((arm) => tagValues(arm, tag, schemas).map((value) => [value, arm]))
    return new Map([['object', { ...part, arms: Object.fromEntries(byValue) as Part['arms'] }]])
  }
  const shapes = arms.map((arm) => shapeOf(arm, schemas))
  if (shapes.includes(null)) return null
  return new Map(shapes.flatMap((shape) => [...(shape ?? [])]))
}

function tagValues(arm: Schema, tag: string, schemas: Schemas): string[] {
  const field = shapeOf(arm, schemas)?.get('object')?.fields[tag]
  const values = field && shapeOf(field.schema, schemas)?.get('string')?.values
  return (values ?? []).map(String)
}

function intersection(one: Shape, other: Shape, component: string | null): Shape {
  if (one === null || other === null) return one ?? other
  const shared = jsonTypes.flatMap((type): [JsonType, Part][] => {
    const [a, b] = [one.get(type), other.get(type)]
    return a && b ? [[type, bothParts(a, b, component)]] : []
  })
  return new Map(shared)
}

function bothParts(a: Part, b: Part, component: string | null): Part {
  return {
    component: component ?? a.component ?? b.component,
    isInteger: a.isInteger || b.isInteger,
    values: a.values && b.values ? a.values.filter((value) => b.values?.includes(value)) : (a.values ?? b.values),
    bounds: tightest(a.bounds, b.bounds),
    conditions: { ...a.conditions, ...b.conditions },
    fields: bothFields(a.fields, b.fields),
    rest: a.rest === false || b.rest === false ? false : a.rest === true ? b.rest : a.rest,
    items: a.items === true ? b.items : a.items,
    arms: a.arms ?? b.arms,
  }
}

function tightest(a: Part['bounds'], b: Part['bounds']): Part['bounds'] {
  const bounds = { ...a, ...b }
  for (const name of Object.keys(a).filter((name) => name in b))
    bounds[name] = isUpper(name) ? Math.min(a[name] ?? 0, b[name] ?? 0) : Math.max(a[name] ?? 0, b[name] ?? 0)
  return bounds
}

/** True for maxLength, maximum and exclusiveMaximum. */
export function isUpper(bound: string): boolean {
  return /max/i.test(bound)
}

function bothFields(a: Part['fields'], b: Part['fields']): Part['fields'] {
  const fields = { ...a, ...b }
  for (const [name, one] of Object.entries(a)) {
    const other = b[name]
    if (!other) continue
    fields[name] = {
      schema:
        one.schema === true ? other.schema : other.schema === true ? one.schema : { allOf: [one.schema, other.schema] },
      isRequired: one.isRequired || other.isRequired,
      isReadOnly: one.isReadOnly || other.isReadOnly,
      isWriteOnly: one.isWriteOnly || other.isWriteOnly,
    }
  }
  return fields
}
