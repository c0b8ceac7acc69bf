/**
 * Checks users' JSON Schemas (2020-12). A schema is not compiled, because compiling 16 KiB takes 120 ms: values are
 * checked by an interpreter, so its rules for references and patterns apply.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { loadAjv, loadSchemaInterpreter } from '../optional.ts'

const draft = 'https://json-schema.org/draft/2020-12/schema'

/** Checks schemas against the meta-schema, shared because compiling it takes 10 ms. */
let metaSchema: Ajv2020 | null = null

/**
 * Returns null if the schema can check values, else its fault. The calling code must bound the schema's size: 16 KiB
 * take 5 ms.
 */
export function schemaFault(schema: object): 'malformed' | 'refers_outside' | null {
  if ('$schema' in schema && schema.$schema !== draft && schema.$schema !== `${draft}#`) return 'malformed'
  // `$async` is a keyword in Ajv, but not in JSON Schema.
  if ('$async' in schema) return 'malformed'
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$schema'))
  const { Ajv2020 } = loadAjv()
  metaSchema ??= new Ajv2020({ strict: false, logger: false })
  try {
    return metaSchema.validateSchema(rest) === true ? faultOfParts(rest) : 'malformed'
  } catch {
    // The nesting has no end, or a reference is not a URI.
    return 'malformed'
  }
}

/** Keywords in a subschema. The meta-schema does not fully check their values. */
type Part = {
  /** The interpreter writes the resolved reference here. */
  __absolute_ref__?: string
  $dynamicRef?: unknown
  enum?: unknown
  pattern?: unknown
  patternProperties?: unknown
}

/**
 * The interpreter reads a schema twice for each `$id` around it, so a schema with more `$id` keywords would take years.
 */
const idsMax = 4

/** Returns the greatest depth of nested schemas with an `$id`. */
function idsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const hasId = ('$id' in value && typeof value.$id === 'string') || ('id' in value && typeof value.id === 'string')
  return Math.max(0, ...Object.values(value).map(idsIn)) + (hasId ? 1 : 0)
}

function faultOfParts(schema: object): 'malformed' | 'refers_outside' | null {
  if (idsIn(schema) > idsMax) return 'malformed'
  // The interpreter marks the schemas, so it gets a copy.
  const known = loadSchemaInterpreter().dereference(structuredClone(schema))
  const parts = Object.values(known).filter((part) => typeof part === 'object') as Part[]
  if (!parts.every(isUsable)) return 'malformed'
  return parts.every((part) => refersInside(part, known)) ? null : 'refers_outside'
}

function isUsable({ enum: values, pattern, patternProperties }: Part): boolean {
  if (Array.isArray(values) && values.length === 0) return false
  const patterns = [...(typeof pattern === 'string' ? [pattern] : []), ...Object.keys(patternProperties ?? {})]
  return patterns.every(isPattern)
}

function refersInside({ __absolute_ref__: reference, $dynamicRef }: Part, known: object): boolean {
  if (typeof $dynamicRef === 'string' && !$dynamicRef.startsWith('#')) return false
  return reference === undefined || reference in known
}

/** Returns true if the pattern is a valid JavaScript regular expression. */
function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}
