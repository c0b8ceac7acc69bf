/** Reads the limits of a contract's schemas. */

export type Schema = {
  $ref?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  maxProperties?: number
  enum?: (string | number | null)[]
  /** If `const` is set, the property may have only the opposite boolean. */
  not?: { const?: boolean }
  pattern?: string
  items?: Schema
  propertyNames?: Schema
  additionalProperties?: Schema | boolean
  properties?: Record<string, Schema>
  oneOf?: Schema[]
}

/**
 * Returns each limit in a schema by its path. A limit is written as `least…most`, as a list of values, or as a pattern.
 */
export function boundsOf(contract: string, name: string): Record<string, string> {
  const { components } = JSON.parse(contract) as { components: { schemas: Record<string, Schema> } }
  const found: Record<string, string> = {}
  function walk(path: string, given: Schema): void {
    const schema = given.$ref ? components.schemas[given.$ref.split('/').at(-1) ?? ''] : given
    if (schema === undefined) throw new Error(`there is no ${given.$ref}`)
    const bound = boundOf(schema)
    if (bound !== '') found[path] = bound
    if (schema.items) walk(`${path}[]`, schema.items)
    if (schema.propertyNames) walk(`${path}{name}`, schema.propertyNames)
    if (typeof schema.additionalProperties === 'object') walk(`${path}{}`, schema.additionalProperties)
    for (const [field, inner] of Object.entries(schema.properties ?? {}))
      walk(path === '' ? field : `${path}.${field}`, inner)
    for (const inner of schema.oneOf ?? []) walk(path, inner)
  }
  walk('', { $ref: `#/components/schemas/${name}` })
  delete found['source.name']
  delete found['tools[].source.name']
  delete found['dispatchMetadataTemplate.tools[].source.name']
  return found
}

function boundOf(schema: Schema): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties, pattern } = schema
  const least = minLength ?? minimum ?? minItems
  const most = maxLength ?? maximum ?? maxItems ?? maxProperties
  const parts = [
    ...(least !== undefined || most !== undefined ? [`${least ?? ''}…${most ?? ''}`] : []),
    ...(schema.enum ? [schema.enum.filter((value) => value !== null).join('|')] : []),
    ...(schema.not?.const !== undefined ? [String(!schema.not.const)] : []),
    ...(pattern !== undefined ? [pattern] : []),
  ]
  return parts.join(', ')
}
