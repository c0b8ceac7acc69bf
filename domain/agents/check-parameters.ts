/** The rules for the JSON Schema that describes a tool's arguments. */
import type { Problem } from '../records/resource-fault.ts'

/**
 * Compiles a JSON Schema (2020-12) in bounded time, without loading other documents. Returns the problem, or null if
 * the schema is valid.
 */
export type CompileSchema = (schema: object) => 'malformed' | 'refers_outside' | null

const bytesMax = 16_384
/** Limits the nesting of schemas. For example, the schema for an object in a list in an object is three deep. */
const depthMax = 8

export function parametersProblem(schema: Record<string, unknown>, compile: CompileSchema): Problem | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > bytesMax) return { kind: 'json_too_large', bytesMax }
  if (schema['type'] !== 'object') return { kind: 'schema_not_of_object' }
  if (depthOf(schema) > depthMax) return { kind: 'schema_too_deep', depthMax }
  const fault = compile(schema)
  if (fault === null) return null
  return { kind: fault === 'malformed' ? 'schema_malformed' : 'schema_refers_outside' }
}

const holdsOne = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const holdsMany = new Set([
  '$defs',
  'allOf',
  'anyOf',
  'definitions',
  'dependentSchemas',
  'oneOf',
  'patternProperties',
  'prefixItems',
  'properties',
])

/** Returns how deeply schemas are nested. The server limits a body's nesting, so the recursion ends. */
function depthOf(schema: unknown): number {
  if (!isObject(schema)) return 0
  const inner = Object.entries(schema).flatMap(([keyword, value]): unknown[] => {
    if (holdsOne.has(keyword)) return [value]
    return holdsMany.has(keyword) && isObject(value) ? Object.values(value) : []
  })
  return 1 + Math.max(0, ...inner.map(depthOf))
}

/** Returns true for an object, and also for an array. An array's items count as its fields. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
