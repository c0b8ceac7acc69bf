/** Every case of raw-cases.ts over both engines. */

import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Input } from '../../runtime/engine/handler.ts'
import type { EngineName } from '../../runtime/engine/options.ts'
import type { Socket, SocketContext } from '../../runtime/engine/socket.ts'
import { loadUws } from '../../runtime/listeners/uws/load.ts'
import { channel, Recorder } from '../ws/harness.ts'
import { faults, jsonBody, mount, operation, start, surface, until } from './harness.ts'
import { type Build, type Case, cases, type Result } from './raw-cases.ts'

const bodyTimeoutMs = 1500
/** A refusal that comes at once, on a busy machine. */
const atOnceMs = 1000
/** The waits of uWebSockets.js are of 10 s, and it looks at them every 4 s. */
const silentMs = 16_000
const connectionsMax = 16

const hiddenRuns = new Set<string>()
const operations = [
  operation('take', 'post', '/v1/take', { body: jsonBody }),
  operation('slow', 'get', '/v1/slow'),
  operation('slowTake', 'post', '/v1/slow-take', { body: jsonBody }),
  operation('atOnce', 'get', '/v1/at-once'),
  operation('hidden', 'get', '/v1/hidden/{id}'),
]
/** Longer than it takes to read what stands behind the request. */
const slowMs = 50
const slow = async () => {
  await sleep(slowMs)
  return { status: 200, body: 'slow' }
}
const handlers = {
  take: () => ({ status: 200, body: 'taken' }),
  slow,
  slowTake: slow,
  atOnce: () => ({ status: 200, body: 'at once' }),
  hidden: ({ path }: Input) => {
    hiddenRuns.add(path['id'] as string)
    return { status: 200, body: 'hidden' }
  },
}
const sockets = {
  surface: { name: 'realtime', channels: [channel()] },
  basePath: '',
  host: null,
  handlers: { talk: (socket: Socket, context: SocketContext) => new Recorder(socket, context) },
  admit: () => null,
  writeFault: faults('realtime'),
}
const isOldBuild = Number(process.versions.node.split('.')[0]) < 22
const uws: Build = isOldBuild ? 'uws20' : 'uws'

t.test('uWebSockets.js', { skip: problemOfUws(), timeout: 110_000 }, (t) => probe(t, 'uws', uws))
t.test('node:http', { timeout: 110_000 }, (t) => probe(t, 'node', 'node'))
t.test('the upload port', { timeout: 110_000 }, (t) => probe(t, 'node', 'uploads'))

function problemOfUws(): string | false {
  const loaded = loadUws()
  return 'problem' in loaded && loaded.problem
}

async function probe(t: Test, engine: EngineName, build: Build): Promise<void> {
  const server = await start([mount(surface('main', ...operations), handlers)], {
    engine,
    uploadPort: build === 'uploads' ? 0 : null,
    sockets: [sockets],
    limits: { bodyTimeoutMs, connectionsPerAddressMax: 10_000, requestsMax: 10_000 },
  })
  t.teardown(() => server.stop())
  const port = server.uploadPort ?? server.port
  const suspects: Case[] = []
  const run = async (each: Case) => {
    if ((await faultOf(each, port, build)) !== null) suspects.push(each)
  }
  const slow = cases.filter((each) => isSlow(each.results[build]))
  const queue = cases.filter((each) => !isSlow(each.results[build]))
  // The slow ones wait side by side, and the quick ones are served meanwhile.
  const waiting = slow.map(run)
  const worker = async () => {
    for (let each = queue.shift(); each; each = queue.shift()) await run(each)
  }
  await Promise.all(Array.from({ length: connectionsMax }, worker))
  await Promise.all(waiting)
  // A busy machine is late now and then, so a fault counts when it is there without company.
  const faults: string[] = []
  for (const each of suspects) {
    const fault = await faultOf(each, port, build)
    if (fault !== null) faults.push(fault)
  }
  t.same(faults, [], `${cases.length} cases`)
  await until(() => server.inflight() === 0)
  const { text } = await exchange(port, 'GET /v1/hidden/last HTTP/1.1\r\nHost: a\r\n\r\n', 1000, false)
  t.match(text, /"hidden"$/, 'the server lives')
}

function isSlow(result: Result): boolean {
  return result === 'silent' || result === 'timed out'
}

/** Null when the server does what the case says. */
async function faultOf({ what, bytes, results }: Case, port: number, build: Build): Promise<string | null> {
  const result = results[build]
  const complain = (seen: string) => `${what}: ${seen} instead of ${result}`
  if (result !== 'hides nothing' && result !== 'silent') {
    const { text, closedMs } = await exchange(port, bytes, waitOf(result), result !== 'served' && result !== 'answered')
    const status = Number(/^HTTP\/1.1 (?:100 Continue\r\n\r\nHTTP\/1.1 )?(\d{3})/.exec(text)?.[1] ?? 0)
    if (result === 'served' && status !== 200) return complain(`status ${status}`)
    if (result === 'answered' && status === 0) return complain('no answer')
    if (result === 'refused' || result === 'timed out') {
      if (status > 0 && status < 400) return complain(`status ${status}`)
      if (closedMs === null) return complain(`an open connection (status ${status})`)
    }
  }
  if (result === 'served' || result === 'answered') return null
  const id = `${port}-${cases.findIndex((each) => each.what === what && each.bytes === bytes)}`
  const { text, closedMs } = await exchange(
    port,
    `${bytes}GET /v1/hidden/${id} HTTP/1.1\r\nHost: a\r\n\r\n`,
    waitOf(result),
  )
  if (closedMs === null) return complain(`an open connection with another request behind it (${text.slice(0, 12)})`)
  await sleep(0)
  return hiddenRuns.has(id) ? complain('a second request') : null
}

function waitOf(result: Result): number {
  if (result === 'silent') return silentMs
  return result === 'timed out' ? 2 * bodyTimeoutMs + atOnceMs : atOnceMs
}

/** Ends with the connection, or after an answer, or after `waitMs`. `closedMs` is null for a connection that was open then. */
function exchange(
  port: number,
  bytes: string,
  waitMs: number,
  mayClose = true,
): Promise<{ text: string; closedMs: number | null }> {
  return new Promise((resolve) => {
    const startedMs = performance.now()
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    const settle = (closedMs: number | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, closedMs })
    }
    let timer = setTimeout(settle, waitMs, null)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      // A refusal closes the connection at once, so an open one is seen soon.
      if (!/^HTTP\/1.1 (?!100)/.test(text)) return
      if (!mayClose) return settle(null)
      clearTimeout(timer)
      timer = setTimeout(settle, Math.min(waitMs, 400), null)
    })
    socket.on('error', () => {})
    socket.on('close', () => settle(performance.now() - startedMs))
    socket.write(Buffer.from(bytes, 'latin1'))
  })
}
