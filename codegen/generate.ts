/** Generates the files for one OpenAPI or AsyncAPI document, in memory. */
import type { AsyncApiDocument, OpenApiDocument, Problem } from './ir.ts'
import type { Source } from './load.ts'
import { loadAsyncApi } from './load-asyncapi.ts'
import { loadOpenApi } from './load-openapi.ts'
import { checkDocument } from './rules.ts'
import { checkChannels } from './rules-asyncapi.ts'
import { emitErrorPages } from './targets/markdown/error-pages.ts'
import { emitErrorDocs } from './targets/markdown/errors.ts'
import type { Documented } from './targets/programs.ts'
import { documentedOf } from './targets/snippets.ts'
import { emitChannels } from './targets/typescript/channels.ts'
import { type ClientLayout, emitClientFiles, emitSocketClientFiles } from './targets/typescript/client-files.ts'
import { emitContract } from './targets/typescript/contract.ts'
import { emitCloseCodes, emitErrors } from './targets/typescript/errors.ts'
import { emitHandlers } from './targets/typescript/handlers.ts'
import { emitRoutes } from './targets/typescript/routes.ts'
import { emitTypes } from './targets/typescript/types.ts'
import { emitValidators } from './targets/typescript/validators.ts'
import { resolveComponents } from './types.ts'
import { refTo, Views, viewsOf } from './views.ts'

/** Each file's text by its path. */
export type Files = Map<string, string>

/** If a document has any problem, there are no files. `clients` is present if the document's clients are generated. */
export type Generated = { files: Files; problems: Problem[]; clients?: Documented }

export type Layout = ClientLayout & {
  /** The files' folder, relative to the repository. */
  folder: string
  /** The path from the generated folder to runtime/. */
  runtimePath: string
  /** The shared components' types, relative to `folder`. */
  sharedModule: string
  docsFolder: string | null
  /**
   * The folder for the error pages: a subfolder for each API, with a page for each error code. Null if there are no
   * error pages.
   */
  errorsFolder?: string | null
}

export async function generateSurface(source: Source, layout: Layout): Promise<Generated> {
  const { document, problems } = await loadOpenApi(source)
  const allProblems = document === null ? problems : checkDocument(document)
  if (document === null || allProblems.length > 0) return { files: new Map(), problems: allProblems }
  return { files: emitSurface(document, layout), problems: [], ...clientsOf(document, layout) }
}

export async function generateChannels(source: Source, layout: Layout): Promise<Generated> {
  const { document, problems } = await loadAsyncApi(source)
  const allProblems = document === null ? problems : checkChannels(document)
  if (document === null || allProblems.length > 0) return { files: new Map(), problems: allProblems }
  try {
    return { files: await emitSockets(document, layout), problems: [], ...clientsOf(document, layout) }
  } catch (error) {
    const { message } = error as Error
    return { files: new Map(), problems: [{ rule: 'generator', file: source.file, pointer: '#/', message }] }
  }
}

/** Generates the shared components' types, in every view (request, response) that an API may need. */
export function generateShared({ file, shared = {} }: Source, folder: string): Generated {
  const components = { types: resolveComponents(shared), shared: new Set<string>() }
  const all = components.types.map(({ name }) => refTo(name))
  const text = emitTypes(file, components, new Views(components, { answered: all, received: all, sent: all }), '')
  return { files: new Map([[`${folder}/types.ts`, text]]), problems: [] }
}

function emitSurface(document: OpenApiDocument, layout: Layout): Files {
  const { folder, docsFolder, runtimePath, sharedModule } = layout
  const files: Files = new Map()
  files.set(`${folder}/types.ts`, emitTypes(document.file, document, viewsOf(document), sharedModule))
  files.set(`${folder}/validators.ts`, emitValidators(document, runtimePath))
  files.set(`${folder}/routes.ts`, emitRoutes(document, runtimePath))
  files.set(`${folder}/handlers.ts`, emitHandlers(document, runtimePath))
  files.set(`${folder}/contract.ts`, emitContract(document))
  if (document.errors) {
    files.set(`${folder}/errors.ts`, emitErrors(document.file, document.errors))
    if (docsFolder) files.set(`${docsFolder}/errors.md`, emitErrorDocs(document.file, document.errors))
    setErrorPages(files, document, layout)
  }
  for (const [file, text] of emitClientFiles(document, layout)) files.set(file, text)
  return files
}

async function emitSockets(document: AsyncApiDocument, layout: Layout): Promise<Files> {
  const { folder, runtimePath, sharedModule } = layout
  const files: Files = new Map()
  files.set(`${folder}/channels.ts`, await emitChannels(document, runtimePath))
  files.set(`${folder}/types.ts`, emitTypes(document.file, document, viewsOf(document), sharedModule))
  files.set(`${folder}/validators.ts`, emitValidators(document, runtimePath))
  if (Object.keys(document.errors).length > 0) files.set(`${folder}/errors.ts`, emitCloseCodes(document))
  setErrorPages(files, document, layout)
  files.set(`${folder}/contract.ts`, emitContract(document))
  for (const [file, text] of emitSocketClientFiles(document, layout)) files.set(file, text)
  return files
}

function setErrorPages(files: Files, { file, name, errors }: OpenApiDocument | AsyncApiDocument, layout: Layout): void {
  const { errorsFolder } = layout
  if (!errorsFolder || errors === null) return
  for (const [page, text] of emitErrorPages(file, name, errors)) files.set(`${errorsFolder}/${name}/${page}`, text)
}

function clientsOf(document: OpenApiDocument | AsyncApiDocument, { clientFolder }: Layout): { clients?: Documented } {
  return clientFolder === null ? {} : { clients: documentedOf(document) }
}
