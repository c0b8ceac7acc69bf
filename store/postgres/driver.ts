/**
 * Loads the Postgres driver with some lines repaired. Two of them end the server or one connection for good when Postgres
 * goes away (issues 1154, 1208 and pull requests 1168, 1209 of porsager/postgres, open in 3.4.9):
 *
 * - A transaction whose connection is lost sends its rollback to a socket that is null. That throws in a timer, where
 *   nobody can catch it, so the process ended with all that it served.
 * - A connection that is lost while a small write waits keeps that write and its timer, so it never writes again.
 *
 * The others keep a COPY waiting for ever:
 *
 * - A COPY that is read more slowly than it comes pauses the socket, and after its last row nobody resumed it.
 * - A COPY whose rows are refused after the last of them was sent never ends.
 *
 * The driver is loaded as CommonJS, because a module of that kind can be compiled from a repaired text.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { compileFunction } from 'node:vm'
import type postgres from 'postgres'

type Driver = typeof postgres
type Repair = readonly [before: string, after: string]

const repairs: readonly Repair[] = [
  [
    'function execute(q) {',
    `function execute(q) {
    if (socket === null)
      return queryError(q, Errors.connection('CONNECTION_CLOSED', options)), true
`,
  ],
  [
    'function nextWrite(fn) {',
    `function nextWrite(fn) {
    if (socket === null)
      return chunk = nextWriteTimer = null, false
`,
  ],
  [
    `clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
    `clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`,
  ],
  ['stream && stream.push(null)\n', 'stream && (stream.push(null), socket.resume())\n'],
  [
    'stream && (stream.destroy(err), stream = null)',
    'stream ? (stream.destroy(err), stream = null) : final && (final(err), final = null)',
  ],
]

export const driver = load(createRequire(import.meta.url))

function load(require: NodeJS.Require): Driver {
  const index = require.resolve('postgres')
  const connection = path.join(path.dirname(index), 'connection.js')
  const compiled = { exports: {}, filename: connection, loaded: true } as NodeJS.Module
  const run = compileFunction(
    repaired(readFileSync(connection, 'utf8')),
    ['module', 'exports', 'require', '__filename', '__dirname'],
    { filename: connection },
  ) as (...parts: unknown[]) => void
  run(compiled, compiled.exports, createRequire(connection), connection, path.dirname(connection))
  require.cache[connection] = compiled
  return require(index) as Driver
}

/** Another version of the driver has another text, and has to be looked at. */
function repaired(text: string): string {
  return repairs.reduce((whole, [before, after]) => {
    if (whole.split(before).length !== 2)
      throw new Error('the Postgres driver is another version: see store/postgres/driver.ts')
    return whole.replace(before, after)
  }, text)
}
