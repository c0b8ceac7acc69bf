/** Each case in raw-cases.ts runs over both engines. */

import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Input } from '../../runtime/engine/handler.ts'
import type { EngineName } from '../../runtime/engine/options.ts'
import type { Socket, SocketContext } from '../../runtime/engine/socket.ts'
import { loadUws } from '../../runtime/listeners/uws/load.ts'
import { TestClock } from '../clock.ts'
import { wholeProcess } from '../time/quiet.ts'
import { channel, Recorder } from '../ws/harness.ts'
import { faults, jsonBody, mount, operation, start, surface } from './harness.ts'
import { type Build, type Case, cases, type Result } from './raw-cases.ts'

const bodyTimeoutMs = 1500
/**
 * If the server refuses a request without a wait, the refusal must come within this time on the test clock.
 * uWebSockets.js may wait 200 ms for the rest of a body.
 */
const atOnceMs = 1000
/** The limit for the cases with the result `silent`, in real time. uWebSockets.js waits 10 s, and checks every 4 s. */
const silentMs = 60_000
/**
 * The limit for connections that need not close, also in real time. It is shorter than the waits in uWebSockets.js. If
 * the server closes a connection earlier, the wait ends.
 */
const openMs = 8000
const connectionsMax = 16

const hiddenRuns = new Set<string>()
const operations = [
  operation('take', 'post', '/v1/take', { body: jsonBody }),
  operation('slow', 'get', '/v1/slow'),
  operation('slowTake', 'post', '/v1/slow-take', { body: jsonBody }),
  operation('atOnce', 'get', '/v1/at-once'),
  operation('hidden', 'get', '/v1/hidden/{id}'),
]
/** The slow handlers take this long. The clock moves only after everything behind the request was read. */
const slowMs = 50
const handlersOf = (clock: TestClock) => ({
  take: () => ({ status: 200, body: 'taken' }),
  slow: () => slowly(clock),
  slowTake: () => slowly(clock),
  atOnce: () => ({ status: 200, body: 'at once' }),
  hidden: ({ path }: Input) => {
    hiddenRuns.add(path['id'] as string)
    return { status: 200, body: 'hidden' }
  },
})
async function slowly(clock: TestClock) {
  await clock.wait(slowMs)
  return { status: 200, body: 'slow' }
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

t.test(
  'uWebSockets.js handles each request in raw-cases.ts as listed',
  { skip: problemOfUws(), timeout: 110_000 },
  (t) => probe(t, 'uws', uws),
)
t.test('node:http handles each request in raw-cases.ts as listed', { timeout: 110_000 }, (t) =>
  probe(t, 'node', 'node'),
)
t.test('the TCP port for uploads handles each request in raw-cases.ts as listed', { timeout: 110_000 }, (t) =>
  probe(t, 'node', 'uploads'),
)

function problemOfUws(): string | false {
  const loaded = loadUws()
  return 'problem' in loaded && loaded.problem
}

async function probe(t: Test, engine: EngineName, build: Build): Promise<void> {
  const clock = new TestClock({ quiet: wholeProcess })
  const server = await start([mount(surface('main', ...operations), handlersOf(clock))], {
    engine,
    clock,
    uploadPort: build === 'uploads' ? 0 : null,
    sockets: [sockets],
    limits: { bodyTimeoutMs, connectionsPerAddressMax: 10_000, requestsMax: 10_000 },
  })
  t.teardown(() => clock.during(server.stop()))
  const port = server.uploadPort ?? server.port
  const faults: string[] = []
  const run = async (each: Case) => {
    const fault = await faultOf(each, { port, build, clock })
    if (fault !== null) faults.push(fault)
  }
  const queue = cases.filter((each) => each.results[build] !== 'silent')
  // The cases `silent` wait at the same time, and the other cases run meanwhile.
  const waiting = cases.filter((each) => each.results[build] === 'silent').map(run)
  const worker = async () => {
    for (let each = queue.shift(); each; each = queue.shift()) await run(each)
  }
  await clock.during(Promise.all(Array.from({ length: connectionsMax }, worker)))
  await Promise.all(waiting)
  t.same(faults, [], `${cases.length} cases`)
  await clock.until('all requests have ended', () => server.inflight() === 0)
  const { text } = await exchange({ port, clock }, 'GET /v1/hidden/last HTTP/1.1\r\nHost: a\r\n\r\n', openMs, false)
  t.match(text, /"hidden"$/, 'the server lives')
}

type Target = { port: number; clock: TestClock }

/** Returns null if the server does what the case expects, or the fault in words. */
async function faultOf({ what, bytes, results }: Case, probed: Target & { build: Build }): Promise<string | null> {
  const { port, build } = probed
  const result = results[build]
  const limitMs = result === 'silent' ? silentMs : openMs
  const complain = (seen: string) => `${what}: ${seen} instead of ${result}`
  if (result !== 'hides nothing' && result !== 'silent') {
    const mayClose = result !== 'served' && result !== 'answered'
    const { text, closedMs } = await exchange(probed, bytes, limitMs, mayClose)
    const status = Number(/^HTTP\/1.1 (?:100 Continue\r\n\r\nHTTP\/1.1 )?(\d{3})/.exec(text)?.[1] ?? 0)
    if (result === 'served' && status !== 200) return complain(`status ${status}`)
    if (result === 'answered' && status === 0) return complain('no answer')
    if (result === 'refused' || result === 'timed out') {
      if (status > 0 && status < 400) return complain(`status ${status}`)
      if (closedMs === null) return complain(`an open connection (status ${status})`)
      if (closedMs > latestMs(result)) return complain(`a close after ${closedMs} ms (status ${status})`)
    }
  }
  if (result === 'served' || result === 'answered') return null
  const id = `${port}-${cases.findIndex((each) => each.what === what && each.bytes === bytes)}`
  const both = `${bytes}GET /v1/hidden/${id} HTTP/1.1\r\nHost: a\r\n\r\n`
  const { text, closedMs } = await exchange(probed, both, limitMs)
  if (closedMs === null || closedMs > latestMs(result))
    return complain(`an open connection with another request behind it (${text.slice(0, 12)})`)
  await sleep(0)
  return hiddenRuns.has(id) ? complain('a second request') : null
}

/** Returns the time on the test clock by which the server must have ended the connection. */
function latestMs(result: Result): number {
  if (result === 'silent') return Number.POSITIVE_INFINITY
  return result === 'timed out' ? 2 * bodyTimeoutMs + atOnceMs : atOnceMs
}

/**
 * Writes the bytes and waits until the connection ends, or an answer has come if the server need not close, or
 * `limitMs` is over on the machine. `closedMs` is a time on the test clock, and null if the connection was still open.
 */
function exchange(
  { port, clock }: Target,
  bytes: string,
  limitMs: number,
  mayClose = true,
): Promise<{ text: string; closedMs: number | null }> {
  return new Promise((resolve) => {
    const startedMs = clock.monotonicMs()
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    const settle = (closedMs: number | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, closedMs })
    }
    const timer = setTimeout(settle, limitMs, null)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (!mayClose && /^HTTP\/1.1 (?!100)/.test(text)) settle(null)
    })
    socket.on('error', () => {})
    socket.on('close', () => settle(clock.monotonicMs() - startedMs))
    socket.write(Buffer.from(bytes, 'latin1'))
  })
}
