/** Walks a value along its schema, to find undeclared fields and dates. Validators do not report them. */
import { resolveSchema, type Schema, type SchemaObject } from '../codegen/schema.ts'

type Schemas = Record<string, Schema>

/** Returns the pointers to undeclared fields. A map or an open schema declares all its fields. */
export function undeclaredIn(schema: Schema, value: unknown, schemas: Schemas, pointer = ''): string[] {
  if (Array.isArray(value)) {
    const items = branches(schema, schemas).flatMap((branch) => (branch.items === undefined ? [] : [branch.items]))
    if (items.length === 0) return []
    return value.flatMap((each, index) => undeclaredIn({ anyOf: items }, each, schemas, `${pointer}/${index}`))
  }
  if (typeof value !== 'object' || value === null) return []
  const all = branches(schema, schemas)
  // A schema without declared fields says nothing about them.
  const isClosed = all.some((branch) => branch.properties !== undefined) && !all.some(takesAnyField)
  return Object.entries(value).flatMap(([name, field]) => {
    const declared = all.flatMap((branch) => propertyOf(branch, name))
    if (declared.length === 0) return isClosed ? [`${pointer}/${name}`] : []
    return undeclaredIn({ anyOf: declared }, field, schemas, `${pointer}/${name}`)
  })
}

/** Returns the values with the format `date-time`. */
export function datesIn(
  schema: Schema,
  value: unknown,
  schemas: Schemas,
  pointer = '',
): { pointer: string; value: unknown }[] {
  const all = branches(schema, schemas)
  if (typeof value !== 'object' || value === null) {
    const isDate =
      value !== null && all.length > 0 && all.filter(isNoNull).every(({ format }) => format === 'date-time')
    return isDate ? [{ pointer, value }] : []
  }
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = Array.isArray(value)
      ? all.flatMap((branch) => (branch.items === undefined ? [] : [branch.items]))
      : all.flatMap((branch) => propertyOf(branch, name))
    return inner.length === 0 ? [] : datesIn({ anyOf: inner }, field, schemas, `${pointer}/${name}`)
  })
}

const isNoNull = ({ type }: SchemaObject) => type !== 'null'

function takesAnyField({ additionalProperties, patternProperties }: SchemaObject): boolean {
  const isMap = additionalProperties !== undefined && additionalProperties !== false
  return isMap || patternProperties !== undefined
}

/** Returns a field's declared schema, or the schema for a map's values. */
function propertyOf({ properties = {}, additionalProperties }: SchemaObject, name: string): Schema[] {
  if (Object.hasOwn(properties, name)) return [properties[name] ?? true]
  return typeof additionalProperties === 'object' ? [additionalProperties as Schema] : []
}

/** Returns the schema and all its alternatives and parts as one list without references. */
export function branches(schema: Schema, schemas: Schemas): SchemaObject[] {
  const target = resolveSchema(schemas, schema)
  if (typeof target === 'boolean') return []
  const { oneOf = [], anyOf = [], allOf = [] } = target as SchemaObject & { anyOf?: Schema[] }
  const inner = [...oneOf, ...anyOf, ...allOf].flatMap((each) => branches(each, schemas))
  // A schema that only combines others (oneOf, anyOf, allOf) declares nothing else, so it is left out.
  const isJoin = inner.length > 0 && target.properties === undefined && target.type === undefined
  return isJoin ? inner : [target, ...inner]
}
