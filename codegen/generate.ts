/** One document in, its files out; nothing is written here. */
import { emitClient, emitClientEngine } from './emit-client.ts'
import { emitConfigKeys, emitSchemaTypes, emitSchemaValidator, readPlainSchema } from './emit-config.ts'
import { emitContract } from './emit-contract.ts'
import { emitErrorDocs } from './emit-docs.ts'
import { emitErrors } from './emit-errors.ts'
import { emitHandlers } from './emit-handlers.ts'
import { emitRoutes } from './emit-routes.ts'
import { emitTypes } from './emit-types.ts'
import { emitValidators } from './emit-validators.ts'
import type { Problem } from './ir.ts'
import { loadOpenApi } from './load.ts'
import { checkDocument } from './rules.ts'

/** Path → text. */
export type Files = Map<string, string>

/** With any problem there are no files. */
export type Generated = { files: Files; problems: Problem[] }

export type Source = { text: string; file: string; path: string }

export type Layout = {
  /** Where the files go, and how they reach runtime/ from there. */
  folder: string
  clientFolder: string | null
  docsFolder: string | null
  runtimePath: string
}

export async function generateSurface(source: Source, layout: Layout): Promise<Generated> {
  const { document, problems } = await loadOpenApi(source.text, source.file, source.path)
  const found = document === null ? problems : checkDocument(document)
  const files: Files = new Map()
  if (document === null || found.length > 0) return { files, problems: found }
  const { folder, clientFolder, docsFolder, runtimePath } = layout
  files.set(`${folder}/types.ts`, await emitTypes(document, 'server'))
  files.set(`${folder}/validators.ts`, emitValidators(document, runtimePath))
  files.set(`${folder}/routes.ts`, emitRoutes(document, runtimePath))
  files.set(`${folder}/handlers.ts`, emitHandlers(document, runtimePath))
  files.set(`${folder}/contract.ts`, emitContract(document))
  if (document.errors) {
    files.set(`${folder}/errors.ts`, emitErrors(document.file, document.errors))
    if (docsFolder) files.set(`${docsFolder}/errors.md`, emitErrorDocs(document.file, document.errors))
  }
  if (clientFolder) {
    files.set(`${clientFolder}/http.ts`, emitClientEngine())
    files.set(`${clientFolder}/${document.name}-types.ts`, await emitTypes(document, 'client'))
    files.set(`${clientFolder}/${document.name}.ts`, emitClient(document))
  }
  return { files, problems: [] }
}

export async function generateConfig(source: Source, folder: string, runtimePath: string): Promise<Generated> {
  const { files, problems } = await generateSchema(source, 'config', folder, runtimePath)
  if (problems.length > 0) return { files, problems }
  files.set(`${folder}/keys.ts`, emitConfigKeys(readPlainSchema(source.text, source.file), runtimePath))
  return { files, problems }
}

/** A document that is no surface: its type, and the validator that is named after it. */
export async function generateSchema(
  { text, file }: Source,
  name: string,
  folder: string,
  runtimePath: string,
): Promise<Generated> {
  const files: Files = new Map()
  try {
    const schema = readPlainSchema(text, file)
    files.set(`${folder}/types.ts`, await emitSchemaTypes(schema))
    files.set(`${folder}/validator.ts`, emitSchemaValidator(schema, name, runtimePath))
    return { files, problems: [] }
  } catch (error) {
    const message = `cannot be made into a validator: ${(error as Error).message}`
    return { files: new Map(), problems: [{ rule: 'schema', file, pointer: '#/', message }] }
  }
}
