/** Lints and bundles a document with redocly, which checks its structure before a loader lowers it. */
import { basename } from 'node:path'
import { bundleFromString, createConfig, lintFromString } from '@redocly/openapi-core'
import { parse } from 'yaml'
import type { Components, Problem } from './ir.ts'
import type { Schema, SchemaObject } from './schema.ts'
import { resolveComponents } from './types.ts'

/** `file` is the path as messages and banners print it, `path` the place from which the references of `text` start. */
export type Source = { text: string; file: string; path: string; shared?: Readonly<Record<string, Schema>> }

export type Loaded<Document> = { document: Document; problems: [] } | { document: null; problems: Problem[] }

/** `lower` is called with a bundled document whose structure has been checked; it throws what makes the document unreadable. */
export async function load<Document>(
  source: Source,
  lintRules: Readonly<Record<string, 'off'>>,
  lower: (bundled: unknown) => Document,
): Promise<Loaded<Document>> {
  const { text, file, path } = source
  try {
    const config = await createConfig({ extends: ['recommended'], rules: lintRules, telemetry: 'off' })
    const lint = await lintFromString({ source: text, absoluteRef: path, config })
    const problems = lint.map(({ ruleId, location, message }) => ({
      rule: ruleId,
      file,
      pointer: location[0]?.pointer ?? '#/',
      message,
    }))
    if (problems.length > 0) return { document: null, problems }
    const { bundle } = await bundleFromString({ source: text, absoluteRef: path, config })
    return { document: lower(bundle.parsed), problems: [] }
  } catch (error) {
    // Redocly throws where there is no document to lint: broken YAML, another format, references in a circle.
    const message = `cannot be read: ${(error as Error).message.replaceAll(path, file)}`
    return { document: null, problems: [{ rule: 'read', file, pointer: '#/', message }] }
  }
}

/** Kind, version and name of a document are in the file's name: specs/router.openapi.yaml. */
export function documentName(file: string): string {
  return basename(file).replace(/\.(openapi|asyncapi)\.yaml$/, '')
}

/** Reads the schemas of specs/shared.yaml. The lint of the documents that refer to it covers it. */
export function readShared(text: string): Record<string, Schema> {
  const { components } = parse(text) as { components: { schemas: Record<string, Schema> } }
  return components.schemas
}

/** A document that is not a surface: one JSON Schema with its title and its $defs. */
export type PlainSchema = { root: SchemaObject; defs: Record<string, Schema>; name: string; file: string }

export function readPlainSchema({ text, file }: Source): PlainSchema {
  // The rest of the generator knows components only, so the $defs become components.
  const { $defs, title, ...root } = JSON.parse(
    JSON.stringify(parse(text)).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as SchemaObject
  return { root, defs: ($defs ?? {}) as Record<string, Schema>, name: String(title), file }
}

/** A component is shared where the bundled document holds exactly what specs/shared.yaml says under the same name. */
export function lowerComponents(schemas: Record<string, Schema>, shared: Source['shared'] = {}): Components {
  const isShared = (name: string) => JSON.stringify(schemas[name]) === JSON.stringify(shared[name])
  const scope = shared['Scope']
  return {
    schemas,
    types: resolveComponents(schemas),
    shared: new Set(Object.keys(schemas).filter(isShared)),
    scopes: (typeof scope === 'object' ? scope.enum : undefined)?.map(String) ?? [],
  }
}
