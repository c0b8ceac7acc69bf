/**
 * Loads uWebSockets.js if it runs here: its package has one binary for each Node version, and each binary needs certain
 * systems. Only a binary with its checksum in sums.ts is loaded. The package's scripts are not run.
 */

import type * as Uws from 'uWebSockets.js'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { sums } from './sums.ts'

export type Binary = typeof Uws & { _cfg(setting: 'silent'): void }
/** `problem` is for the user. `isForeign`: the file exists, but its checksum differs from the table. */
type Loaded = { binary: Binary } | { problem: string; isForeign: boolean }

const require = createRequire(import.meta.url)
let loaded: Loaded | null = null

/**
 * A request's largest head, in bytes. uWebSockets.js reads UWS_HTTP_MAX_HEADERS_SIZE when it is loaded. Its default,
 * 4096, is too small for a token, a few cookies and JSON in a header. node:http also has the limit 16,384.
 */
const headBytesMax = 16_384

/** Returns the binary, or the reason for the failed load. Opens nothing. */
export function loadUws(): Loaded {
  loaded ??= load(binaryPath())
  return loaded
}

/** Loads a binary if its checksum is in the table. Reading and hashing the 7 MB takes about 15 ms. */
export function load(path: string): Loaded {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(headBytesMax)
  const [sum, tested] = [sumOf(path), sums[basename(path)]]
  // The package has more binaries than the table, for example for Node 21.
  if (sum === null || tested === undefined) return { problem: problemOf(''), isForeign: false }
  if (sum !== tested) return { problem: foreignProblem(path, sum), isForeign: true }
  try {
    return { binary: require(path) as Binary }
  } catch (error) {
    return { problem: problemOf(error instanceof Error ? error.message : ''), isForeign: false }
  }
}

/** Returns the path of the binary for this Node. '' if the package is missing. */
export function binaryPath(): string {
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
  try {
    return join(dirname(require.resolve('uWebSockets.js/package.json')), name)
  } catch {
    return ''
  }
}

/** Returns the file's SHA-256 sum. Null if there is no such file. */
function sumOf(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return null
  }
}

function foreignProblem(path: string, sum: string): string {
  return `the file ${basename(path)} of uWebSockets.js is not the one that this version was tested with (its SHA-256 is ${sum})`
}

/**
 * Explains in our words why the binary did not load. The message is the dynamic linker's: "version `GLIBC_2.38' not
 * found".
 */
function problemOf(message: string): string {
  const node = `Node ${process.versions.node.split('.')[0]}`
  const needed = /`GLIBC_([\d.]+)' not found/.exec(message)?.[1]
  if (needed === undefined)
    return `uWebSockets.js has no tested build for ${node} on this ${process.platform} ${process.arch}`
  const glibc = glibcVersion()
  return `uWebSockets.js for ${node} needs glibc ${needed}${glibc === '' ? '' : `, and this system has ${glibc}`}`
}

/** Returns the version of glibc. '' if the C library is not glibc. */
function glibcVersion(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime ?? ''
}
