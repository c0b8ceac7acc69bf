/** generated/config, catalog and key-policy: the type and the validator of a plain JSON Schema; of the configuration's also its keys. */
import { createAjv, registerSchema } from '../../ajv.ts'
import { pascal, type Schema, type SchemaObject } from '../../ir.ts'
import type { PlainSchema } from '../../load.ts'
import { resolveSchema } from '../../schema.ts'
import { resolveComponents } from '../../types.ts'
import { refTo, Views } from '../../views.ts'
import { banner, print } from './print.ts'
import { emitTypes } from './types.ts'
import { emitModule } from './validators.ts'

/** The types are those after validation: every field that has a default is there. */
export function emitSchemaTypes({ root, defs, name, file }: PlainSchema): string {
  const components = { types: resolveComponents({ ...defs, [name]: root }), shared: new Set<string>() }
  const received = components.types.map(({ name }) => refTo(name))
  const views = new Views(components, { answered: [], received, sent: [] })
  return emitTypes(file, components, views, '')
}

/** `name` config: it exports validateConfig. */
export function emitSchemaValidator({ root, defs, file }: PlainSchema, name: string, runtimePath: string): string {
  const ajv = createAjv(defs)
  const id = registerSchema(ajv, name, root, 'request', defs)
  return banner('config', file) + emitModule(ajv, new Map([[`validate${pascal(name)}`, id]]), runtimePath)
}

/** Which environment variable stands for which key. What is inside a list has no variable of its own. */
export function emitConfigKeys({ root, defs, file }: PlainSchema, runtimePath: string): string {
  return `${banner('config', file)}
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
