/**
 * Loads undici with two repairs (nodejs/undici: issue 5360 and pull request 5474, not in 7.30.2). If a reader is slower
 * than its server, undici pauses the connection. Without the repairs this has two faults:
 *
 * - If the server ended or reset a connection with `Connection: close`, an assertion failed in an event handler, and
 *   the whole process ended.
 * - If the server closed a kept connection right after the body, the response failed, although it had arrived.
 *
 * The repaired code reads the rest of the response first.
 */
import path from 'node:path'
import { loadRepaired, type Repair } from './repaired-source.ts'

const repairs: readonly Repair[] = [
  [
    `  finish () {
    assert(currentParser === null)
    assert(this.ptr != null)
    assert(!this.paused)
`,
    `  finish () {
    assert(currentParser === null)
    assert(this.ptr != null)
    for (let isRead = false; this.paused && !isRead;) {
      const data = this.socket.read() || EMPTY_BUF
      isRead = data.length === 0
      this.llhttp.llhttp_resume(this.ptr)
      this.paused = false
      this.execute(data)
    }
    if (this.paused) {
      this.llhttp.llhttp_resume(this.ptr)
      this.paused = false
    }
`,
  ],
  [
    `  if (parser.statusCode && !parser.shouldKeepAlive) {
    const parserErr = parser.finish()
    if (parserErr) {
      util.destroy(this, parserErr)
    }
    return
  }
`,
    `  if (parser.statusCode && (parser.paused || !parser.shouldKeepAlive)) {
    const isKept = parser.shouldKeepAlive
    const parserErr = parser.finish()
    if (parserErr || isKept) {
      util.destroy(this, parserErr || new SocketError('other side closed', util.getSocketInfo(this)))
    }
    return
  }
`,
  ],
]

export function loadUndiciRepaired(require: NodeJS.Require): typeof import('undici') {
  const index = require.resolve('undici')
  const parser = path.join(path.dirname(index), 'lib/dispatcher/client-h1.js')
  if (require.cache[parser] === undefined) loadRepaired(require, parser, repairs, 'runtime/repaired-undici.ts')
  return require('undici') as typeof import('undici')
}
