/**
 * Returns the document that the server serves. In an open object it leaves out each alias (`x-alias-of`), and lists the
 * aliases in `x-aliases` of their field instead. Code generators convert names to their language's case, so they would
 * declare `pipelineConfig` and `pipeline_config` twice. An open object accepts the alias without a declaration.
 */
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
  const field = properties[String(alias['x-alias-of'])]
  if (typeof field !== 'object') return
  field['x-aliases'] = [...((field['x-aliases'] as string[] | undefined) ?? []), name]
  delete properties[name]
}
