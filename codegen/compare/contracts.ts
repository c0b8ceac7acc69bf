/**
 * Reads the public contracts in one state of the repository: the working files, or a commit. The bundled documents in
 * generated/ are read, because they have everything in specs/ and need no bundling. `make check` compares them with
 * specs/.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AsyncApiDocument, OpenApiDocument } from '../ir.ts'
import { lowerAsyncApi } from '../load-asyncapi.ts'
import { lowerOpenApi } from '../load-openapi.ts'

/** The APIs for clients. The APIs `internal` and `carrier` serve this server's pages and telephone companies. */
const surfaces = ['router', 'compat', 'platform', 'realtime', 'session'] as const

export type Contracts = Map<string, OpenApiDocument | AsyncApiDocument>

/** Returns a file's text in one state of the repository, or null without such a file. Throws if it cannot be read. */
export type ReadFile = (path: string) => string | null

export function readContracts(read: ReadFile): Contracts {
  const contracts: Contracts = new Map()
  for (const name of surfaces) {
    const text = read(`generated/${name}/contract.ts`)
    if (text !== null) contracts.set(name, lowerContract(name, contractIn(text)))
  }
  return contracts
}

export function lowerContract(name: string, contract: string): OpenApiDocument | AsyncApiDocument {
  const document = JSON.parse(contract) as { openapi?: string }
  if (document.openapi !== undefined) return lowerOpenApi(document, { file: `specs/${name}.openapi.yaml` })
  return lowerAsyncApi(document, { file: `specs/${name}.asyncapi.yaml` })
}

/** Returns the contract in the source text. It is a string in single quotes, otherwise escaped as in JSON. */
export function contractIn(source: string): string {
  const quoted = /^export const \w+ = '(.*)'$/m.exec(source)?.[1]
  if (quoted === undefined) throw new Error('the file has no contract')
  const json = quoted.replaceAll(/\\(.)|"/g, (match, escaped?: string) => {
    if (escaped === "'") return "'"
    return match === '"' ? '\\"' : match
  })
  return JSON.parse(`"${json}"`) as string
}

export function filesIn(folder: string): ReadFile {
  return (path) => {
    try {
      return readFileSync(join(folder, path), 'utf8')
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }
}

/** The limit for a contract's file. A contract has about 600 KB. */
const fileBytesMax = 64 * 1024 * 1024

export function filesAt(commit: string, folder: string): ReadFile {
  return (path) => {
    try {
      const options = {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: fileBytesMax,
        stdio: 'pipe',
        env: { ...process.env, LC_ALL: 'C' },
      } as const
      return execFileSync('git', ['show', `${commit}:${path}`], options)
    } catch (error) {
      if (absent.test(String((error as { stderr?: unknown }).stderr))) return null
      throw error
    }
  }
}

/** Git's messages for a path that the commit lacks, and for a commit that does not exist. */
const absent = /does not exist in|exists on disk, but not in|invalid object name|not a git repository/

const isMissing = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
