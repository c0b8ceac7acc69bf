/** `parley models update` merges a newer catalog of models over the current one, and writes it into the data folder. */
import { renameSync, writeFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { CatalogFile, CatalogModel } from '../../generated/catalog/types.ts'
import { makeDataDir } from '../../runtime/process/data-dir.ts'
import { CatalogError, keyOf, newer, parseCatalog, readShipped, readUpdated } from './file.ts'

/** The updated catalog's file name in the data folder. */
export const updatedCatalogFile = 'catalog.json'

export type CatalogUpdate = {
  path: string
  before: string
  after: string
  models: number
  figures: number
  prices: number
}

/**
 * Merges an update into the data folder's file. `source` is a path or an http(s) URL. If the file cannot be read, does
 * not fit the schema or is older than the current file, throws CatalogError and leaves the data folder unchanged.
 */
export async function updateCatalog(source: string, dataDir: string): Promise<CatalogUpdate> {
  const target = path.join(dataDir, updatedCatalogFile)
  const inForce = newer(readShipped(), readUpdated(target))
  const update = parseCatalog(await textOf(source), source)
  if (update.as_of < inForce.as_of)
    throw new CatalogError(`${source}: is of ${update.as_of}, and what is in force is newer (${inForce.as_of})`)
  const merged = mergeCatalogs(inForce, update)
  // Validates the result like the server's start does, so the merge cannot write a file refused at the next start.
  const text = `${JSON.stringify(merged, null, 1)}\n`
  parseCatalog(text, 'the merged catalog')
  makeDataDir(dataDir)
  // The rename is atomic: a reader sees the old file or the new file, never a mixture.
  writeFileSync(`${target}.new`, text)
  renameSync(`${target}.new`, target)
  return {
    path: target,
    before: inForce.as_of,
    after: update.as_of,
    models: merged.models.length,
    figures: count(merged, 'figures'),
    prices: count(merged, 'prices'),
  }
}

/** Merges two catalogs. The update's figures and prices replace the previous values; all other values stay. */
export function mergeCatalogs(before: CatalogFile, update: CatalogFile): CatalogFile {
  const models = new Map(before.models.map((entry) => [keyOf(entry), entry]))
  for (const entry of update.models) {
    const existing = models.get(keyOf(entry))
    models.set(keyOf(entry), existing ? mergeModels(existing, entry) : entry)
  }
  return { as_of: update.as_of, sources: { ...before.sources, ...update.sources }, models: [...models.values()] }
}

function mergeModels(before: CatalogModel, update: CatalogModel): CatalogModel {
  const figureOf = ({ metric, language, path, source, data }: CatalogModel['figures'][number]) =>
    [metric, language, path, source, data].join(' ')
  // For each unit and path (`stream` or `batch`) only one price is kept, even if several sources publish a price,
  // because only one price can be billed.
  const priceOf = ({ unit, path }: CatalogModel['prices'][number]) => [unit, path].join(' ')
  return {
    ...before,
    ...update,
    figures: replaced(before.figures, update.figures, figureOf),
    prices: replaced(before.prices, update.prices, priceOf),
  }
}

function replaced<T>(before: readonly T[], update: readonly T[], nameOf: (item: T) => string): T[] {
  const names = new Set(update.map(nameOf))
  return [...update, ...before.filter((item) => !names.has(nameOf(item)))]
}

function count({ models }: CatalogFile, list: 'figures' | 'prices'): number {
  return models.reduce((sum, entry) => sum + entry[list].length, 0)
}

const bytesMax = 16 * 1024 * 1024
const fetchTimeoutMs = 30_000

async function textOf(source: string): Promise<string> {
  if (/^https?:\/\//.test(source)) return download(source)
  try {
    if ((await stat(source)).size > bytesMax) throw new CatalogError(`${source}: is larger than ${bytesMax} bytes`)
    return await readFile(source, 'utf8')
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause
    throw new CatalogError(`${source}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(fetchTimeoutMs) }).catch((cause: Error) => {
    throw new CatalogError(`${url}: cannot be fetched (${cause.message})`)
  })
  if (!response.ok || response.body === null) throw new CatalogError(`${url}: answers ${response.status}`)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > bytesMax) throw new CatalogError(`${url}: is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
