/** Lints and bundles a document with redocly, which checks its structure before a loader converts it. */
import { basename } from 'node:path'
import { bundleFromString, createConfig, lintFromString } from '@redocly/openapi-core'
import { parse } from 'yaml'
import type { Components, Problem } from './ir.ts'
import type { Schema, SchemaObject } from './schema.ts'
import { resolveComponents } from './types.ts'

/** `file` is the path in messages and banners. References in `text` are relative to `path`. */
export type Source = { text: string; file: string; path: string; shared?: Readonly<Record<string, Schema>> }

export type Loaded<Document> = { document: Document; problems: [] } | { document: null; problems: Problem[] }

/** `lower` receives a bundled document with a checked structure. It throws if the document is unreadable. */
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
    return { document: lower(namedByTitle(bundle.parsed)), problems: [] }
  } catch (error) {
    // Redocly throws if there is no document to lint: broken YAML, another format, circular references.
    const message = `cannot be read: ${(error as Error).message.replaceAll(path, file)}`
    return { document: null, problems: [{ rule: 'read', file, pointer: '#/', message }] }
  }
}

type Bundled = { components?: { schemas?: Record<string, SchemaObject> } }

/**
 * Renames a component that the bundler made from a whole file, such as `key-policy.schema`, to the file's title. The
 * bundler would name the component after the file, and a type cannot have this name.
 */
function namedByTitle(bundled: unknown): unknown {
  const schemas = (bundled as Bundled).components?.schemas ?? {}
  const names = Object.keys(schemas).filter((name) => name.includes('.'))
  return names.reduce((document: unknown, name) => {
    const title = String(schemas[name]?.title)
    const reference = JSON.stringify(`#/components/schemas/${name}`)
    const text = JSON.stringify(document).replaceAll(reference, JSON.stringify(`#/components/schemas/${title}`))
    return withoutFileFields(JSON.parse(text) as Bundled, name, title)
  }, bundled)
}

/**
 * These fields describe a whole file, so the component leaves them out. The definitions in `$defs` are components
 * already.
 */
const fileFields = ['$schema', '$defs', 'title']

/** Renames the component, and removes the fields that describe a whole file. */
function withoutFileFields(document: Bundled, name: string, title: string): Bundled {
  const { components = {} } = document
  const schemas = Object.entries(components.schemas ?? {}).map(([each, schema]) => {
    if (each !== name) return [each, schema] as const
    const fields = Object.entries(schema).filter(([field]) => !fileFields.includes(field))
    return [title, Object.fromEntries(fields)] as const
  })
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } }
}

/** Returns the document's name from its file name: `router` for specs/router.openapi.yaml. */
export function documentName(file: string): string {
  return basename(file).replace(/\.(openapi|asyncapi)\.yaml$/, '')
}

/**
 * Reads the schemas in specs/shared.yaml. They are not linted here, because each document that refers to them is
 * linted.
 */
export function readShared(text: string): Record<string, Schema> {
  const { components } = parse(text) as { components: { schemas: Record<string, Schema> } }
  return components.schemas
}

/** A document that is not an API: one JSON Schema with its title and its $defs. */
export type PlainSchema = { root: SchemaObject; defs: Record<string, Schema>; name: string; file: string }

export function readPlainSchema({ text, file }: Source): PlainSchema {
  // The rest of the generator supports only components, so the $defs become components.
  const { $defs, title, ...root } = JSON.parse(
    JSON.stringify(parse(text)).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as SchemaObject
  return { root, defs: ($defs ?? {}) as Record<string, Schema>, name: String(title), file }
}

/**
 * Converts the document's schemas to the generator's own types. A component counts as shared if the bundled document
 * defines it exactly as specs/shared.yaml does.
 */
export function lowerComponents(schemas: Record<string, Schema>, shared: Source['shared'] = {}): Components {
  const isShared = (name: string) => JSON.stringify(schemas[name]) === JSON.stringify(shared[name])
  return {
    schemas,
    types: resolveComponents(schemas),
    shared: new Set(Object.keys(schemas).filter(isShared)),
    scopes: valuesOf(shared['Scope']),
    roles: valuesOf(shared['Role']),
  }
}

function valuesOf(schema: Schema | undefined): string[] {
  return (typeof schema === 'object' ? schema.enum : undefined)?.map(String) ?? []
}
