/** Lists a multipart body's parts in order, and how each part is read. */
import type { MediaType } from './ir.ts'
import { isBinary, resolveSchema, type Schema, type SchemaObject } from './schema.ts'
import { fallbackOf, resolveType, type Type } from './types.ts'

/**
 * OpenAPI's defaults: strings and lists of strings are text/plain, one part per item. Everything else except bytes is
 * JSON.
 */
export type PartKind = 'bytes' | 'text' | 'json'

export type PartPlan = {
  name: string
  kind: PartKind
  isList: boolean
  required: boolean
  schema: Schema
  type: Type
  /** The default, filled in by validation if the part is text. Undefined without a default. */
  fallback: unknown
}

export function planParts(media: MediaType, schemas: Record<string, Schema>): PartPlan[] {
  const { properties = {}, required = [] } = target(media, schemas)
  const names = media.partOrder ?? Object.keys(properties)
  return names.map((name) => {
    const schema = properties[name] ?? true
    const isList = typeOf(schema, schemas) === 'array'
    return {
      name,
      kind: kindOf(schema, schemas),
      isList,
      required: required.includes(name),
      schema,
      type: resolveType(schema, schemas),
      fallback: fallbackOf(schema, schemas),
    }
  })
}

/** True if unknown parts are read and dropped, instead of refused. */
export function isOpenForm(media: MediaType, schemas: Record<string, Schema>): boolean {
  return target(media, schemas).additionalProperties === true
}

/** Returns an object schema with a property for each text part. Null if the body has no text parts. */
export function textSchema(parts: readonly PartPlan[]): SchemaObject | null {
  const texts = parts.filter(({ kind }) => kind === 'text')
  if (texts.length === 0) return null
  return {
    type: 'object',
    properties: Object.fromEntries(texts.map(({ name, schema }) => [name, schema])),
    required: texts.filter(({ required }) => required).map(({ name }) => name),
  }
}

function target(media: MediaType, schemas: Record<string, Schema>): SchemaObject {
  const schema = resolveSchema(schemas, media.schema ?? true)
  return typeof schema === 'object' ? schema : {}
}

function kindOf(schema: Schema, schemas: Record<string, Schema>): PartKind {
  if (isBinary(schema, schemas)) return 'bytes'
  const type = typeOf(schema, schemas)
  const resolved = resolveSchema(schemas, schema)
  const item = type === 'array' && typeof resolved === 'object' ? typeOf(resolved.items ?? true, schemas) : type
  return item === 'string' ? 'text' : 'json'
}

function typeOf(schema: Schema, schemas: Record<string, Schema>): unknown {
  const resolved = resolveSchema(schemas, schema)
  return typeof resolved === 'object' ? resolved.type : undefined
}
