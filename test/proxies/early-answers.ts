/**
 * Tests streams that begin right after their request's end: each must arrive whole. After a body's last byte, Go's
 * client reads once more, to see the end. If the answer has begun by then, Go's server has closed the body: the read
 * fails, and the client closes the connection with the answer (https://github.com/golang/go/issues/40747). On a busy
 * machine this cuts one stream in 500. So with a faulty proxy this test fails almost always, but not for certain.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'
import { Agent, fetch } from 'undici'
import { chat } from './load.ts'
import { type ProxyName, startProxy } from './proxy.ts'

const streams = 5000
const atOnce = 100
const body = JSON.stringify({ model: 'mock:mock', stream: true, messages: [{ role: 'user', content: 'count' }] })

export async function earlyAnswers(t: Test, name: ProxyName): Promise<void> {
  // In a separate thread the server answers at once, even while the clients are busy.
  const server = new Worker(serverCode, { eval: true })
  t.teardown(() => server.terminate())
  const [port] = (await once(server, 'message')) as [number]
  const proxy = await startProxy(name, [`http://127.0.0.1:${port}`])
  const agent = new Agent({ connections: atOnce })
  t.teardown(() => Promise.all([agent.close(), proxy.stop()]))
  let left = streams
  const faults: string[] = []
  const client = async () => {
    while (left-- > 0) {
      const last = await readStream(proxy.url, agent)
      if (last !== 'data: [DONE]') faults.push(last)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  const diagnostics = { first: faults.slice(0, 3), proxy: proxy.failures().slice(0, 3) }
  t.equal(faults.length, 0, `all of ${streams} streams arrived whole`, diagnostics)
}

/** Reads a stream to its end. Returns its last line, or the fault. */
async function readStream(url: string, dispatcher: Agent): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch(url + chat, { method: 'POST', headers, body, dispatcher })
    return (await response.text()).trimEnd().split('\n').at(-1) ?? ''
  } catch (error) {
    return String((error as Error).cause ?? error)
  }
}

/**
 * Writes the answer's first piece once the request's last byte has arrived, even before Node reports the request's end.
 */
const serverCode = `
const answer = (request, response) => {
  if (request.method === 'GET') return response.end()
  let bytes = 0
  request.on('data', (chunk) => {
    bytes += chunk.length
    if (bytes < Number(request.headers['content-length'])) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {}\\n\\n')
    setTimeout(() => response.end('data: [DONE]\\n\\n'), 20)
  })
}
const server = require('node:http').createServer(answer).listen(0, '127.0.0.1', () =>
  require('node:worker_threads').parentPort.postMessage(server.address().port),
)
`
