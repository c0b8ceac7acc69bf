/**
 * Reads the catalog files: the shipped file, and an update in the data folder. The newer file is used, so neither an
 * old update nor a Parley upgrade restores outdated figures (prices and benchmark results). An update is validated when
 * it is read, and refused if a figure's source is unknown.
 */
import { readFileSync } from 'node:fs'
import type { CatalogFile, CatalogModel } from '../../generated/catalog/types.ts'
import { validateCatalog } from '../../generated/catalog/validator.ts'
import { packageFile } from '../../runtime/package-file.ts'

/** A catalog file contains an error. The message is for the file's author. */
export class CatalogError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CatalogError'
  }
}

export const shippedFile = packageFile('providers/catalog/figures.json')

/**
 * Parses a catalog file. `name` is the file's name in error messages. Throws CatalogError if the text is not JSON, does
 * not fit the schema or names an unknown source.
 */
export function parseCatalog(text: string, name: string): CatalogFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new CatalogError(`${name}: is not JSON`)
  }
  if (!validateCatalog(value)) throw new CatalogError(`${name}: ${whyInvalid()}`)
  const file = value as CatalogFile
  const wrong = wrongReference(file)
  if (wrong !== null) throw new CatalogError(`${name}: ${wrong}`)
  return file
}

/**
 * Reads the shipped file without validation. It was validated before it shipped, and validation would slow down every
 * start.
 */
export function readShipped(): CatalogFile {
  return JSON.parse(readFileSync(shippedFile, 'utf8')) as CatalogFile
}

/** Reads the updated catalog. Returns null if the file does not exist. */
export function readUpdated(path: string): CatalogFile | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new CatalogError(`${path}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
  return parseCatalog(text, path)
}

export function newer(shipped: CatalogFile, updated: CatalogFile | null): CatalogFile {
  return updated !== null && updated.as_of >= shipped.as_of ? updated : shipped
}

export function keyOf({ vendor, stage, model }: Pick<CatalogModel, 'vendor' | 'stage' | 'model'>): string {
  return `${stage}:${vendor}/${model}`
}

function whyInvalid(): string {
  const [error] = validateCatalog.errors ?? []
  if (!error) return 'does not fit the schema'
  const extra = 'additionalProperty' in error.params ? ` (${String(error.params['additionalProperty'])})` : ''
  return `${error.instancePath || '/'} ${error.message ?? 'does not fit the schema'}${extra}`
}

function wrongReference({ sources, models }: CatalogFile): string | null {
  const seen = new Set<string>()
  for (const entry of models) {
    const key = keyOf(entry)
    if (seen.has(key)) return `${key} is listed twice`
    seen.add(key)
    const stray = [...entry.figures, ...entry.prices].find(({ source }) => !Object.hasOwn(sources, source))
    if (stray) return `${key} quotes ${stray.source}, which is no source of the file`
  }
  return null
}
