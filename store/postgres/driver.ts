/**
 * Loads the Postgres driver with some lines repaired. Some of them end the server, or one connection for good, when
 * Postgres goes away (issues 1154, 1208 and pull requests 1168, 1209 of porsager/postgres, open in 3.4.9):
 *
 * - A transaction whose connection is lost sends its rollback to a socket that is null. That throws in a timer, where
 *   nobody can catch it, so the process ended with all that it served.
 * - A connection that is lost while a small write waits keeps that write and its timer, so it never writes again.
 * - A socket that fails says so before it closes. Statements that were sent between the two, as a rollback, stayed in line,
 *   so each answer on the next socket went to the statement before, and a transaction waited for ever.
 * - A transaction that went on after its connection was lost sent its statements into the next transaction there.
 *
 * Other lines keep a COPY waiting for ever:
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

const repairsOfConnection: readonly Repair[] = [
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
  ['!hadError && (query || sent.length) && error(', ';(query || sent.length) && error('],
  ['closedTime = performance.now()', 'query = null\n    closedTime = performance.now()'],
  ['stream && stream.push(null)\n', 'stream && (stream.push(null), socket.resume())\n'],
  [
    'stream && (stream.destroy(err), stream = null)',
    'stream ? (stream.destroy(err), stream = null) : final && (final(err), final = null)',
  ],
]

const repairsOfIndex: readonly Repair[] = [
  ['let savepoints = 0', 'let lost = null\n      , savepoints = 0'],
  ['connection.onclose = reject)', 'connection.onclose = (e) => (lost = e, reject(e)))'],
  [
    'q.catch(e => uncaughtError || (uncaughtError = e))',
    `q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
`,
  ],
]

export const driver = load(createRequire(import.meta.url))

function load(require: NodeJS.Require): Driver {
  const index = require.resolve('postgres')
  const connection = path.join(path.dirname(index), 'connection.js')
  loadRepaired(require, connection, repairsOfConnection)
  return loadRepaired(require, index, repairsOfIndex) as Driver
}

function loadRepaired(require: NodeJS.Require, file: string, repairs: readonly Repair[]): unknown {
  const compiled = { exports: {}, filename: file, loaded: true } as NodeJS.Module
  const run = compileFunction(
    repaired(readFileSync(file, 'utf8'), repairs),
    ['module', 'exports', 'require', '__filename', '__dirname'],
    { filename: file },
  ) as (...parts: unknown[]) => void
  run(compiled, compiled.exports, createRequire(file), file, path.dirname(file))
  require.cache[file] = compiled
  return compiled.exports
}

/** Another version of the driver has another text, and has to be looked at. */
function repaired(text: string, repairs: readonly Repair[]): string {
  return repairs.reduce((whole, [before, after]) => {
    if (whole.split(before).length !== 2)
      throw new Error('the Postgres driver is another version: see store/postgres/driver.ts')
    return whole.replace(before, after)
  }, text)
}
