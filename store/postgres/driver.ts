/**
 * Loads the Postgres driver with some lines repaired. Without these repairs a Postgres outage ends the server, or
 * breaks one connection permanently (issues 1154, 1208 and pull requests 1168, 1209 of porsager/postgres, open in
 * 3.4.9):
 *
 * - If a transaction loses its connection, it sends its rollback to a null socket. This throws in a timer, and no code
 *   can catch the error, so the whole process ended.
 * - If a connection is lost while a small write waits, it keeps the write and its timer, so it never writes again.
 * - A failing socket emits its error before its close. If a statement, such as a rollback, was sent between the two, it
 *   stayed in the queue. So each result on the next socket went to the previous statement, and a transaction waited for
 *   ever.
 * - If a transaction went on after its connection was lost, it sent its statements into the connection's next
 *   transaction.
 *
 * Other repairs are for a COPY. Without them it waits for ever:
 *
 * - If a COPY is read slowly, it pauses the socket. After its last row no code resumed the socket.
 * - If Postgres refuses a COPY's rows after the last row was sent, the COPY never ends.
 *
 * The original driver keeps each prepared statement until the connection ends. Here a connection keeps at most
 * `preparedMax`, and later texts are not prepared. A savepoint's name says only its depth. In the original driver a
 * counter gives each savepoint another name, which makes another statement.
 *
 * The repairs also change the option `socket`. In the original driver its function makes the sockets, and if it cannot
 * connect, the connection is permanently lost. In the repaired driver the function only receives each new socket, and
 * whether this socket listens for notifications. So a silent socket can be destroyed (sockets.ts).
 *
 * The driver is loaded as CommonJS, because a CommonJS module can be compiled from repaired text.
 */
import { createRequire } from 'node:module'
import path from 'node:path'
import type postgres from 'postgres'
import { loadRepaired, type Repair } from '../../runtime/repaired-source.ts'

type Driver = typeof postgres

/**
 * The maximum number of prepared statements of a connection. The product has some hundred statements. But filters can
 * be combined, so one client could make many thousands, and Postgres keeps each until the connection ends. If a client
 * has filled the places, new texts are not prepared, and each of their runs takes one more round trip. This is so for
 * all organizations, until the driver replaces the connection after 30 to 60 minutes.
 */
export const preparedMax = 1_000

const repairsOfConnection: readonly Repair[] = [
  [
    `x = options.socket
        ? (await Promise.resolve(options.socket(options)))
        : new net.Socket()`,
    `x = new net.Socket()
      options.socket && options.socket(x, options.onnotify !== undefined)`,
  ],
  [
    `if (options.socket)
      return ssl ? secure() : connected()
`,
    '',
  ],
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
  [
    `('prepare' in q.options ? q.options.prepare : true)
`,
    `('prepare' in q.options ? q.options.prepare : true)
      && (statementCount <= ${preparedMax} || types + string in statements)
`,
  ],
]

const repairsOfIndex: readonly Repair[] = [
  ['let savepoints = 0', 'let lost = null'],
  ['sql.savepoint = savepoint', "sql.savepoint = savepoint\n      const inner = (name || '') + 's'"],
  ["'s' + savepoints++ + (name", 'inner + (name'],
  ['connection.onclose = reject)', 'connection.onclose = (e) => (lost = e, reject(e)))'],
  [
    'q.catch(e => uncaughtError || (uncaughtError = e))',
    `q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
`,
  ],
]

const reviewedIn = 'store/postgres/driver.ts'

export const driver = load(createRequire(import.meta.url))

function load(require: NodeJS.Require): Driver {
  const index = require.resolve('postgres')
  const connection = path.join(path.dirname(index), 'connection.js')
  loadRepaired(require, connection, repairsOfConnection, reviewedIn)
  return loadRepaired(require, index, repairsOfIndex, reviewedIn) as Driver
}
