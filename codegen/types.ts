/**
 * A document's types, resolved from JSON Schema into concepts common to all typed languages. A target prints them and
 * reads no schema.
 *
 *   any · null · scalar · bytes · enum   a value
 *   list · map                           many values of one type, by position or by name
 *   object ─ fields[]                    closed: it has no other fields
 *   union ─ arms[], tag                  arms are the members; `tag` is the field whose constant names the member
 *   all ─ parts[]                        every part at once (allOf; an object with both declared and additional fields)
 *   nullable ─ of
 *   ref ─ name                           a component, whose name becomes the name of the type
 *
 * Bounds (lengths, ranges, patterns) belong to the validators and do not appear here.
 */
import { isBytes, refName, resolveSchema, type Schema, type SchemaObject } from './schema.ts'

export type Literal = string | number | boolean

export type Field = {
  name: string
  type: Type
  isRequired: boolean
  /** The default from the property or its component, filled in by validation. Undefined without a default. */
  fallback: unknown
  /** `readOnly`: requests never have the field. */
  isReadOnly: boolean
  /** `writeOnly`: responses never have the field. */
  isWriteOnly: boolean
  isDeprecated: boolean
  /** `x-alias-of`: the field with the same meaning. Null for other fields. */
  aliasOf: string | null
  description: string
}

export type ObjectType = { kind: 'object'; fields: Field[]; isClosed: boolean }

export type Type =
  | { kind: 'any' }
  | { kind: 'null' }
  | { kind: 'scalar'; scalar: 'string' | 'integer' | 'number' | 'boolean'; format: string | null }
  | { kind: 'bytes' }
  | { kind: 'enum'; values: Literal[] }
  | { kind: 'list'; item: Type }
  | { kind: 'map'; value: Type }
  | ObjectType
  | { kind: 'union'; arms: Type[]; tag: string | null }
  | { kind: 'all'; parts: Type[] }
  | { kind: 'nullable'; of: Type }
  | { kind: 'ref'; name: string }

/** A component: a type with a name. */
export type NamedType = { name: string; type: Type; description: string }

type Schemas = Record<string, Schema>

export function resolveComponents(schemas: Schemas): NamedType[] {
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    type: resolveType(schema, schemas),
    description: textOf(schema, 'description'),
  }))
}

export function resolveType(schema: Schema, schemas: Schemas): Type {
  if (typeof schema === 'boolean') return { kind: 'any' }
  if (schema.$ref !== undefined) return { kind: 'ref', name: refName(schema.$ref) }
  if (isBytes(schema)) return { kind: 'bytes' }
  const values = schema.enum ?? ('const' in schema ? [schema['const']] : null)
  if (values) return enumOf(values)
  const parts = [...ownParts(schema, schemas), ...(schema.allOf ?? []).map((part) => resolveType(part, schemas))]
  const arms = schema.oneOf ?? (schema['anyOf'] as Schema[] | undefined)
  if (arms) parts.push(unionOf(arms, schema.discriminator?.propertyName ?? null, schemas))
  const [first, ...more] = parts
  if (first === undefined) return { kind: 'any' }
  return more.length === 0 ? first : { kind: 'all', parts }
}

/** Returns the default from the schema or its component. Undefined without a default. */
export function fallbackOf(schema: Schema, schemas: Schemas): unknown {
  const sides = [schema, resolveSchema(schemas, schema)]
  return sides.flatMap((side) =>
    typeof side === 'object' && side['default'] !== undefined ? [side['default']] : [],
  )[0]
}

/** Returns the types directly inside a type. */
export function innerTypes(type: Type): Type[] {
  if (type.kind === 'list') return [type.item]
  if (type.kind === 'map') return [type.value]
  if (type.kind === 'object') return type.fields.map((field) => field.type)
  if (type.kind === 'union') return type.arms
  if (type.kind === 'all') return type.parts
  return type.kind === 'nullable' ? [type.of] : []
}

/** Resolves the keywords `type`, `properties` and `items`, apart from allOf and oneOf. */
function ownParts(schema: SchemaObject, schemas: Schemas): Type[] {
  const names = [schema.type ?? (schema.properties ? 'object' : [])].flat()
  const others = names.filter((name) => name !== 'null').map((name) => ofType(name, schema, schemas))
  const isNullable = others.length < names.length
  const [only = [], ...more] = others
  if (more.length === 0 && !isNullable) return only
  if (others.length === 0) return [{ kind: 'null' }]
  // If the schema lists several JSON types, the result is a union. An object with both declared and additional fields
  // is an intersection (`all`).
  const arms = others.flatMap((parts): Type[] => (parts.length > 1 ? [{ kind: 'all', parts }] : parts))
  const [first, ...rest] = arms
  if (first === undefined) return []
  const type: Type = rest.length === 0 ? first : { kind: 'union', arms, tag: null }
  return [isNullable ? { kind: 'nullable', of: type } : type]
}

function ofType(name: string, schema: SchemaObject, schemas: Schemas): Type[] {
  if (name === 'array') return [{ kind: 'list', item: resolveType(schema.items ?? true, schemas) }]
  if (name === 'object') return objectOf(schema, schemas)
  const scalar = name as 'string' | 'integer' | 'number' | 'boolean'
  return [{ kind: 'scalar', scalar, format: textOf(schema, 'format') || null }]
}

function objectOf(schema: SchemaObject, schemas: Schemas): Type[] {
  const rest = schema['additionalProperties'] as Schema | undefined
  const isClosed = rest === false || schema['unevaluatedProperties'] === false
  const values: Type = { kind: 'map', value: resolveType(rest ?? true, schemas) }
  // Beside allOf or oneOf, `type: object` adds nothing. Elsewhere, an object without declared fields may contain
  // anything.
  if (!schema.properties) return isClosed || (rest === undefined && (schema.allOf ?? schema.oneOf)) ? [] : [values]
  const required = schema.required ?? []
  const fields = Object.entries(schema.properties).map(([name, property]) =>
    fieldOf(name, property, required.includes(name), schemas),
  )
  const own: ObjectType = { kind: 'object', fields, isClosed }
  return rest === undefined || rest === false ? [own] : [own, values]
}

function fieldOf(name: string, schema: Schema, isRequired: boolean, schemas: Schemas): Field {
  const sides = [schema, resolveSchema(schemas, schema)]
  const isMarked = (keyword: string) => sides.some((side) => typeof side === 'object' && side[keyword] === true)
  return {
    name,
    type: resolveType(schema, schemas),
    isRequired,
    fallback: fallbackOf(schema, schemas),
    isReadOnly: isMarked('readOnly'),
    isWriteOnly: isMarked('writeOnly'),
    isDeprecated: typeof schema === 'object' && schema['deprecated'] === true,
    aliasOf: textOf(schema, 'x-alias-of') || null,
    description: textOf(schema, 'description'),
  }
}

function enumOf(values: unknown[]): Type {
  const literals = values.filter((value): value is Literal => value !== null)
  if (literals.length === 0) return { kind: 'null' }
  const type: Type = { kind: 'enum', values: literals }
  return literals.length < values.length ? { kind: 'nullable', of: type } : type
}

function unionOf(schemas: Schema[], tag: string | null, components: Schemas): Type {
  const isNull = (schema: Schema) => typeof schema === 'object' && schema.type === 'null'
  const arms = schemas.filter((schema) => !isNull(schema)).map((schema) => resolveType(schema, components))
  const [first = { kind: 'any' }, ...more] = arms
  const type: Type = more.length === 0 ? first : { kind: 'union', arms, tag }
  return arms.length < schemas.length ? { kind: 'nullable', of: type } : type
}

function textOf(schema: Schema, keyword: string): string {
  const value = typeof schema === 'object' ? schema[keyword] : undefined
  return typeof value === 'string' ? value : ''
}
