/** Of a plain JSON Schema its type and its validator; of the configuration's also the table of its keys. */
import type { OpenAPI3 } from 'openapi-typescript'
import { parse } from 'yaml'
import { createAjv, registerSchema } from './ajv.ts'
import { schemaTypes } from './emit-types.ts'
import { emitModule } from './emit-validators.ts'
import type { Schema, SchemaObject } from './ir.ts'
import { banner, pascal, print } from './print.ts'
import { resolveSchema } from './schema.ts'

export type PlainSchema = { root: SchemaObject; defs: Record<string, Schema>; name: string; file: string }

export function readPlainSchema(text: string, file: string): PlainSchema {
  // openapi-typescript and our projection know components, so $defs take their place.
  const { $defs, title, ...root } = JSON.parse(
    JSON.stringify(parse(text)).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as SchemaObject
  return { root, defs: ($defs ?? {}) as Record<string, Schema>, name: String(title), file }
}

export async function emitSchemaTypes({ root, defs, name, file }: PlainSchema): Promise<string> {
  const info = { title: name, version: '1' }
  const schemas = { ...defs, [name]: root } as NonNullable<OpenAPI3['components']>['schemas'] & object
  const text = await schemaTypes({ openapi: '3.1.0', info, paths: {}, components: { schemas } }, {})
  // The wrapping document has nothing but schemas.
  return banner('emit-config', file) + text.replaceAll(/^export type (paths|webhooks|operations|\$defs) = .*\n/gm, '')
}

/** `name` config: it exports validateConfig. */
export function emitSchemaValidator({ root, defs, file }: PlainSchema, name: string, runtimePath: string): string {
  const ajv = createAjv(defs)
  const id = registerSchema(ajv, name, root, 'request', defs)
  return banner('emit-config', file) + emitModule(ajv, new Map([[`validate${pascal(name)}`, id]]), runtimePath)
}

/** Which environment variable stands for which key. What is inside a list has no variable of its own. */
export function emitConfigKeys({ root, defs, file }: PlainSchema, runtimePath: string): string {
  return `${banner('emit-config', file)}
import type { ConfigKey } from '${runtimePath}/config.ts'

export const configKeys: readonly ConfigKey[] = ${print(configKeys(root, defs, []))}
`
}

function configKeys(schema: SchemaObject, defs: Record<string, Schema>, parents: string[]): object[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]): object[] => {
    const path = [...parents, name]
    const target = resolveSchema(defs, property)
    if (typeof target === 'boolean') return []
    if (target.properties) return configKeys(target, defs, path)
    const types = [target.type ?? 'string'].flat().filter((type) => type !== 'null')
    const env = target['x-env'] ?? variable(path)
    return [{ path, env, type: types[0], secret: target['x-secret'] === true }]
  })
}

/** limits.jsonBytesMax → PARLEY_LIMITS_JSON_BYTES_MAX */
function variable(path: string[]): string {
  const words = path.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase())
  return ['PARLEY', ...words].join('_')
}
