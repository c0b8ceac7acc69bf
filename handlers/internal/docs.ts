/**
 * Serves the documentation, which the build has written into a folder. The files are listed once at the start, and a
 * request can name only a listed file. Header names and subprotocols get this deployment's prefix, as in the served
 * contracts.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { GetDocsFileResult, InternalHandlers } from '../../generated/internal/handlers.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { withHeaderPrefix } from '../contract.ts'
import { isKnown, listFiles, tagOf } from './files.ts'
import { noStore } from './try-access.ts'

export type DocsDeps = { docsFolder: string; headerPrefix: string }

type DocsHandlers = Pick<InternalHandlers<null>, 'getDocs' | 'getDocsFile' | 'getDocsPage'>

const types = {
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
} as const

const headers = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

const missingPage = '404.html'

export function docsHandlers({ docsFolder, headerPrefix }: DocsDeps): DocsHandlers {
  const names = new Set(listFiles(docsFolder))
  /** The ETags of the files read so far. The files do not change while the server runs. */
  const tags = new Map<string, string>()

  async function serve(name: string, known = ''): Promise<GetDocsFileResult> {
    const isFound = names.has(name) && name !== missingPage
    // Before a build there is no documentation, and so no 404 page.
    if (!isFound && !names.has(missingPage)) throw nothingAt(`/docs/${name}`, [])
    const served = isFound ? name : missingPage
    const knownTag = tags.get(served)
    if (isFound && knownTag !== undefined && isKnown(known, knownTag))
      return { status: 304, headers: { ...headers, ETag: knownTag } }
    const body = await read(served)
    const tag = knownTag ?? tagOf(body)
    tags.set(served, tag)
    const tagged = { ...headers, ETag: tag }
    if (!isFound) return { status: 404, type: types['.html'], headers: tagged, body }
    return isKnown(known, tag)
      ? { status: 304, headers: tagged }
      : { status: 200, type: typeOf(served), headers: tagged, body }
  }

  async function read(name: string): Promise<Buffer> {
    const bytes = await readFile(path.join(docsFolder, name))
    return typeOf(name).startsWith('image/') ? bytes : Buffer.from(withHeaderPrefix(bytes.toString(), headerPrefix))
  }

  return {
    getDocs: () => ({ status: 302, headers: { ...noStore, Location: '/docs/index.html' } }),
    getDocsFile: ({ path: { file }, header }) => serve(file, header['if-none-match']),
    getDocsPage: ({ path: { folder, file }, header }) => serve(`${folder}/${file}`, header['if-none-match']),
  }
}

function typeOf(name: string) {
  const extension = path.extname(name)
  return extension in types ? types[extension as keyof typeof types] : 'text/plain; charset=utf-8'
}
