/**
 * Loads uWebSockets.js if it runs here: its package has one binary for each Node version, and each binary needs certain
 * systems.
 */
import type * as Uws from 'uWebSockets.js'
import { createRequire } from 'node:module'

export type Binary = typeof Uws & { _cfg(setting: 'silent'): void }

const require = createRequire(import.meta.url)
let loaded: { binary: Binary } | { problem: string } | null = null

/**
 * A request's largest head, in bytes. The newer build reads UWS_HTTP_MAX_HEADERS_SIZE when it is loaded. Its default,
 * 4096, is too small for a token, a few cookies and JSON in a header. node:http also has the limit 16,384.
 */
const headBytesMax = 16_384

/** Returns the binary, or the reason for the failed load, in words for the user. Opens nothing. */
export function loadUws(): { binary: Binary } | { problem: string } {
  if (loaded) return loaded
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(headBytesMax)
  try {
    loaded = { binary: require('uWebSockets.js') as Binary }
  } catch (error) {
    loaded = { problem: problemOf(error instanceof Error ? error.message : '') }
  }
  return loaded
}

/**
 * Says in our words why the package did not load. Its message ends with the dynamic linker's message: "version
 * `GLIBC_2.38' not found".
 */
function problemOf(message: string): string {
  const node = `Node ${process.versions.node.split('.')[0]}`
  const needed = /`GLIBC_([\d.]+)' not found/.exec(message)?.[1]
  if (needed === undefined) return `uWebSockets.js has no build for ${node} on this ${process.platform} ${process.arch}`
  const glibc = glibcVersion()
  return `uWebSockets.js for ${node} needs glibc ${needed}${glibc === '' ? '' : `, and this system has ${glibc}`}`
}

/** Returns the version of glibc. '' if the C library is not glibc. */
function glibcVersion(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime ?? ''
}
