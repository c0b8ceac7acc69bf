/**
 * Visits and rewrites JSON Schema 2020-12 keyword by keyword, so that a property named `default` or `x-ray` is never
 * taken for a keyword.
 */

/** JSON Schema 2020-12 as it was written. */
export type Schema = boolean | SchemaObject

export type SchemaObject = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
  [keyword: string]: unknown
}

export type Direction = 'request' | 'response'
type Schemas = Record<string, Schema>

const schemaKeywords = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const listKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const mapKeywords = new Set(['$defs', 'dependentSchemas', 'patternProperties', 'properties'])

/**
 * Keywords for values of one JSON type. They accept null, except `type` and `enum`: `orNull` adds null to these two.
 */
const typedKeywords = new Set([
  'additionalProperties',
  'default',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'pattern',
  'properties',
  'propertyNames',
  'required',
  'type',
  'uniqueItems',
])

/**
 * Keywords that only people and generated types use. They validate nothing. Ajv in strict mode refuses some of them.
 */
const annotations = new Set([
  'contentEncoding',
  'contentMediaType',
  'deprecated',
  'description',
  'example',
  'examples',
  'externalDocs',
  'readOnly',
  'title',
  'writeOnly',
  'xml',
])

export type Child = { schema: Schema; path: string[] }

/** Returns the schemas directly inside this schema, with their paths relative to it. */
export function children(schema: Schema): Child[] {
  if (typeof schema === 'boolean') return []
  return Object.entries(schema).flatMap(([keyword, value]): Child[] => {
    if (schemaKeywords.has(keyword)) return [{ schema: value as Schema, path: [keyword] }]
    if (!listKeywords.has(keyword) && !mapKeywords.has(keyword)) return []
    return Object.entries(value as Schemas).map(([key, inner]) => ({ schema: inner, path: [keyword, key] }))
  })
}

/** Rewrites the schema so that Ajv accepts it for one direction. References become `<direction>:<component>`. */
export function project(schema: Schema, direction: Direction, schemas: Schemas): Schema {
  if (typeof schema === 'boolean') return schema
  const nullable = nullableComponent(schema, schemas)
  const projected: SchemaObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.has(keyword) || keyword.startsWith('x-')) continue
    // Validation only checks a response and never fills in a default.
    if (keyword === 'default' && direction === 'response') continue
    if (keyword === 'oneOf' && nullable !== null) projected.$ref = nullableId(direction, nullable)
    else projected[keyword] = projectKeyword(keyword, value, direction, schemas)
  }
  dropHidden(schema, projected, direction, schemas)
  if (direction === 'request') hoistDefaults(schema, projected, schemas)
  return projected
}

/**
 * Ajv applies a property's default and refuses a default at a schema's root, so the root's default is removed here.
 * hoistDefaults has copied it to the properties that refer to the component.
 */
export function projectComponent(schema: Schema, direction: Direction, schemas: Schemas): SchemaObject {
  const projected = project(schema, direction, schemas)
  if (typeof projected === 'boolean') return projected ? {} : { not: {} }
  delete projected.default
  return projected
}

export function nullableId(direction: Direction, name: string): string {
  return `${direction}-or-null:${name}`
}

/**
 * Returns the component if the schema is one component or null, as in `oneOf: [{ $ref }, { type: 'null' }]`. Such a
 * schema is validated in one step. With `oneOf`, Ajv would report all violations in the component as a single
 * violation. Returns null if a keyword in the component could refuse null.
 */
function nullableComponent({ oneOf = [] }: SchemaObject, schemas: Schemas): string | null {
  const [ref, ...others] = oneOf
    .map((arm) => (typeof arm === 'object' ? arm : {}))
    .filter(({ type }) => type !== 'null')
  if (ref?.$ref === undefined || others.length > 0 || oneOf.length !== 2) return null
  const name = refName(ref.$ref)
  return orNull(schemas[name] ?? true) === null ? null : name
}

/** Returns the schema with null as another value. Null if a keyword in the schema could refuse null. */
export function orNull(schema: Schema): SchemaObject | null {
  if (typeof schema === 'boolean' || schema.type === undefined) return null
  const isPlain = Object.keys(schema).every(
    (keyword) => typedKeywords.has(keyword) || annotations.has(keyword) || keyword.startsWith('x-'),
  )
  if (!isPlain) return null
  return { ...schema, type: [schema.type, 'null'].flat(), ...(schema.enum && { enum: [...schema.enum, null] }) }
}

export function isBinary(schema: Schema | null, schemas: Schemas): boolean {
  if (schema === null) return true
  const target = resolveSchema(schemas, schema)
  return typeof target === 'object' && isBytes(target)
}

/**
 * True if the schema describes raw bytes. If the bytes are encoded, for example as base64, the schema describes a
 * string.
 */
export function isBytes(schema: SchemaObject): boolean {
  return (
    schema['format'] === 'binary' ||
    (schema['contentMediaType'] !== undefined && schema['contentEncoding'] === undefined)
  )
}

function projectKeyword(keyword: string, value: unknown, direction: Direction, schemas: Schemas): unknown {
  if (keyword === '$ref') return `${direction}:${refName(value as string)}`
  // Ajv does not support discriminator.mapping. The constants in the branches state the same mapping.
  if (keyword === 'discriminator') return { propertyName: (value as { propertyName: string }).propertyName }
  if (schemaKeywords.has(keyword)) return project(value as Schema, direction, schemas)
  if (listKeywords.has(keyword)) return (value as Schema[]).map((inner) => project(inner, direction, schemas))
  if (!mapKeywords.has(keyword)) return value
  const entries = Object.entries(value as Schemas)
  return Object.fromEntries(entries.map(([key, inner]) => [key, project(inner, direction, schemas)]))
}

/** Removes readOnly properties from requests and writeOnly properties from responses, as if they were not declared. */
function dropHidden(schema: SchemaObject, projected: SchemaObject, direction: Direction, schemas: Schemas): void {
  const marker = direction === 'request' ? 'readOnly' : 'writeOnly'
  const hidden = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const target = resolveSchema(schemas, property)
    const marked = [property, target].some((side) => typeof side === 'object' && side[marker] === true)
    return marked ? [name] : []
  })
  if (hidden.length === 0) return
  for (const name of hidden) delete projected.properties?.[name]
  const required = projected.required?.filter((name) => !hidden.includes(name)) ?? []
  delete projected.required
  if (required.length > 0) projected.required = required
}

/**
 * Copies defaults from components to the properties, because Ajv reads `default` only there and never through a
 * reference.
 */
function hoistDefaults(schema: SchemaObject, projected: SchemaObject, schemas: Schemas): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const own = projected.properties?.[name]
    if (typeof own !== 'object' || typeof property === 'boolean' || property.default !== undefined) continue
    const target = resolveSchema(schemas, property)
    if (typeof target === 'object' && target.default !== undefined) own.default = target.default
  }
}

const schemaRefPrefix = '#/components/schemas/'

export function refName(ref: string, prefix = schemaRefPrefix): string {
  return unescapePointer(ref.slice(prefix.length))
}

/** Follows bare references to components until it finds another schema. */
export function resolveSchema(schemas: Record<string, Schema>, schema: Schema): Schema {
  let here = schema
  while (typeof here === 'object' && here.$ref !== undefined) here = schemas[refName(here.$ref)] ?? true
  return here
}

export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function unescapePointer(key: string): string {
  return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
}

export function isEnvelope(schema: Schema | null): boolean {
  return typeof schema === 'object' && schema?.$ref === '#/components/schemas/ErrorEnvelope'
}
