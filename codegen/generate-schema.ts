/**
 * Generates the files for a plain JSON Schema, in memory. The settings, the catalog and an API key's policy have such
 * schemas.
 */
import type { Files, Generated } from './generate.ts'
import { readPlainSchema, type Source } from './load.ts'
import { emitConfigKeys, emitSchemaTypes, emitSchemaValidator } from './targets/typescript/config.ts'

export function generateConfig(source: Source, folder: string, runtimePath: string): Generated {
  const { files, problems } = generateSchema(source, 'config', folder, runtimePath)
  if (problems.length > 0) return { files, problems }
  files.set(`${folder}/keys.ts`, emitConfigKeys(readPlainSchema(source), runtimePath))
  return { files, problems }
}

/** Generates the type and validator for a plain schema. `name` is in the validator's name. */
export function generateSchema(source: Source, name: string, folder: string, runtimePath: string): Generated {
  const files: Files = new Map()
  try {
    const schema = readPlainSchema(source)
    files.set(`${folder}/types.ts`, emitSchemaTypes(schema))
    files.set(`${folder}/validator.ts`, emitSchemaValidator(schema, name, runtimePath))
    return { files, problems: [] }
  } catch (error) {
    const message = `cannot be made into a validator: ${(error as Error).message}`
    return { files: new Map(), problems: [{ rule: 'schema', file: source.file, pointer: '#/', message }] }
  }
}
