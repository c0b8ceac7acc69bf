/** Writes the served OpenAPI documents into files, which code generators read. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { released } from '../../conform/surfaces.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { serverWith } from '../server.ts'

/** The generators and compilers have this long for one document. */
export const limitMs = 900_000

const documentsCount = 3

type Operations = Record<string, { operationId?: string }>
type Document = { paths: Record<string, Operations> }
export type Served = { name: string; file: string; document: Document }

/** Empties the folder of a generator, ignored by git, and returns its path. */
export function emptyFolder(name: string): string {
  const folder = packageFile(`.cache/foreign-generators/${name}`).pathname
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

export async function servedDocuments(folder: string): Promise<Served[]> {
  const { url } = await serverWith()
  const served = released.filter(([, place]) => place.includes('openapi'))
  if (served.length !== documentsCount) throw new Error(`there are ${served.length} documents`)
  return Promise.all(
    served.map(async ([name, place]) => {
      const response = await fetch(url + place)
      if (!response.ok) throw new Error(`${place} is answered with ${response.status}`)
      const text = await response.text()
      const file = path.join(folder, `${name}.json`)
      writeFileSync(file, text)
      return { name, file, document: JSON.parse(text) as Document }
    }),
  )
}

/** Returns the operations without a method or module of this name, in any spelling. */
export function withoutMethod({ document }: Served, names: readonly string[]): string[] {
  const known = new Set(names.map(plain))
  const items = Object.values(document.paths).flatMap((item) => Object.values(item))
  const ids = items.flatMap(({ operationId }) => operationId ?? [])
  if (ids.length === 0) throw new Error('the document has no operation')
  return ids.filter((id) => !known.has(plain(id)))
}

const plain = (name: string) => name.toLowerCase().replaceAll('_', '')
