/**
 * Returns the document that the server serves. If a component is an open object, the served document lists an alias
 * (`x-alias-of`) in `x-aliases` of its field instead of declaring the alias: code generators convert names to their
 * language's case, so they would declare `pipelineConfig` and `pipeline_config` twice. An open object accepts the alias
 * without a declaration. An alias with another schema than its field stays.
 */
import { isDeepStrictEqual } from 'node:util'
import { children, type Schema, type SchemaObject } from './schema.ts'

type Source = { components?: { schemas?: Record<string, Schema> } }

export function servedDocument(source: Record<string, unknown>): Record<string, unknown> {
  // Schemas from YAML anchors are one object in several places. The copy has a separate object in each place.
  const document = JSON.parse(JSON.stringify(source)) as Record<string, unknown> & Source
  for (const schema of Object.values(document.components?.schemas ?? {})) listAliases(schema)
  return document
}

function listAliases(schema: Schema): void {
  if (typeof schema === 'boolean') return
  const isOpen = schema['additionalProperties'] !== false && schema['unevaluatedProperties'] !== false
  if (isOpen) for (const name of Object.keys(schema.properties ?? {})) listAlias(schema.properties ?? {}, name)
  for (const inner of children(schema)) listAliases(inner.schema)
}

function listAlias(properties: Record<string, Schema>, name: string): void {
  const alias = properties[name] as SchemaObject
  const target = alias['x-alias-of']
  const field = typeof target === 'string' ? properties[target] : undefined
  if (typeof field !== 'object' || !isDeepStrictEqual(typeOf(alias), typeOf(field))) return
  field['x-aliases'] = [...((field['x-aliases'] as string[] | undefined) ?? []), name]
  delete properties[name]
}

/** Returns the schema without the keywords that differ between a field and its alias. */
function typeOf(schema: SchemaObject): object {
  const { description: _description, ...rest } = schema
  return { ...rest, 'x-alias-of': undefined, 'x-aliases': undefined }
}
