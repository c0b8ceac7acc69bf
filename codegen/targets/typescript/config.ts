/** Emits a plain JSON Schema's type and validator, and the configuration's key table. */
import { createAjv, registerSchema } from '../../ajv.ts'
import { pascal } from '../../ir.ts'
import type { PlainSchema } from '../../load.ts'
import { resolveSchema, type Schema, type SchemaObject } from '../../schema.ts'
import { resolveComponents } from '../../types.ts'
import { refTo, Views } from '../../views.ts'
import { banner, print } from './print.ts'
import { emitTypes } from './types.ts'
import { emitModule } from './validators.ts'

/** Emits the types of validated values. Validation fills in defaults, so a field with a default is never optional. */
export function emitSchemaTypes({ root, defs, name, file }: PlainSchema): string {
  const components = { types: resolveComponents({ ...defs, [name]: root }), shared: new Set<string>() }
  const received = components.types.map(({ name }) => refTo(name))
  const views = new Views(components, { answered: [], received, sent: [] })
  return emitTypes(file, components, views, '')
}

/** Emits validateConfig for the name `config`. */
export function emitSchemaValidator({ root, defs, file }: PlainSchema, name: string, runtimePath: string): string {
  const ajv = createAjv(defs)
  const id = registerSchema(ajv, name, root, 'request', defs)
  return banner('config', file) + emitModule(ajv, new Map([[`validate${pascal(name)}`, id]]), runtimePath)
}

/** Emits each key's environment variable. Keys inside a list have no variable. */
export function emitConfigKeys({ root, defs, file }: PlainSchema, runtimePath: string): string {
  return `${banner('config', file)}
import type { ConfigKey } from '${runtimePath}/process/config.ts'

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

/** Returns a key's environment variable: limits.jsonBytesMax → PARLEY_LIMITS_JSON_BYTES_MAX. */
function variable(path: string[]): string {
  const words = path.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase())
  return ['PARLEY', ...words].join('_')
}
