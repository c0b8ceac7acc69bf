/**
 * Makes the smallest valid value for a JSON Schema. Supports the usual schemas for tools and answers, but ignores
 * `pattern` and `not`.
 */

type Schema = Readonly<Record<string, unknown>>

/** The depth is limited, because a schema may contain itself. */
const depthMax = 16
/**
 * The maximum number of values made for one schema; values beyond this limit are null. If a schema contains itself ten
 * times, ten levels would need ten thousand million values.
 */
const stepsMax = 20_000

type Budget = { steps: number }

const textByFormat: Readonly<Record<string, string>> = {
  date: '2000-01-01',
  'date-time': '2000-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'nobody@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-0000-0000-000000000000',
}

export function smallestValue(schema: Schema): unknown {
  return build(schema, schema, 0, { steps: stepsMax })
}

function build(schema: Schema, root: Schema, depth: number, budget: Budget): unknown {
  budget.steps -= stepsOf(schema)
  if (depth > depthMax || budget.steps < 0) return null
  const inner = (value: unknown) => build(asSchema(value), root, depth + 1, budget)
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if ('default' in schema) return schema['default']
  if (typeof schema['$ref'] === 'string') return inner(resolve(schema['$ref'], root))
  const options = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(options)) return inner(options[0])
  if (Array.isArray(schema['allOf'])) return inner(merge(schema['allOf'].map(asSchema)))
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, inner)
    case 'array':
      return Array.from({ length: count(schema['minItems']) }, () => inner(schema['items']))
    case 'string':
      return buildText(schema)
    case 'integer':
    case 'number':
      return buildNumber(schema)
    case 'boolean':
      return false
    default:
      return null
  }
}

function stepsOf({ allOf, required, minItems }: Schema): number {
  const lists = [allOf, required].map((list) => (Array.isArray(list) ? list.length : 0))
  return lists.reduce((sum, length) => sum + length, 1 + count(minItems))
}

function buildObject(schema: Schema, inner: (value: unknown) => unknown): Record<string, unknown> {
  const properties = asSchema(schema['properties'])
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : []
  return Object.fromEntries(required.map((name) => [name, inner(properties[name])]))
}

function buildText(schema: Schema): string {
  const text = textByFormat[String(schema['format'])] ?? ''
  return text.padEnd(count(schema['minLength']), 'x')
}

function buildNumber(schema: Schema): number {
  const step = typeof schema['multipleOf'] === 'number' ? schema['multipleOf'] : 1
  const above = typeof schema['exclusiveMinimum'] === 'number' ? schema['exclusiveMinimum'] + step : -Infinity
  const least = typeof schema['minimum'] === 'number' ? schema['minimum'] : -Infinity
  const most = typeof schema['maximum'] === 'number' ? schema['maximum'] : Infinity
  const smallest = Math.min(Math.max(0, above, least), most)
  return typeOf(schema) === 'integer' || 'multipleOf' in schema ? Math.ceil(smallest / step) * step : smallest
}

function typeOf(schema: Schema): unknown {
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  return type ?? ('properties' in schema ? 'object' : 'items' in schema ? 'array' : undefined)
}

/**
 * Resolves a reference within the document, such as `#/$defs/name`. For any other reference every value is accepted.
 */
function resolve(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#')) return {}
  const names = reference
    .slice(1)
    .split('/')
    .filter((name) => name !== '')
  return names.reduce<unknown>((at, name) => asSchema(at)[name.replace(/~1/g, '/').replace(/~0/g, '~')], root)
}

function merge(schemas: readonly Schema[]): Schema {
  const properties = Object.assign({}, ...schemas.map((schema) => schema['properties'])) as Schema
  const required = schemas.flatMap((schema) =>
    Array.isArray(schema['required']) ? (schema['required'] as string[]) : [],
  )
  return { ...(Object.assign({}, ...schemas) as Schema), properties, required }
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {}
}

function count(value: unknown): number {
  return typeof value === 'number' ? Math.max(0, Math.min(1000, value)) : 0
}
