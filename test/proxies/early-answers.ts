/**
 * A stream that begins as soon as its request has ended comes whole. A proxy in Go reads once more behind the end of the
 * body; the answer has closed the body by then, and for this fault Go closes the connection that carries the answer:
 * https://github.com/golang/go/issues/40747. On a busy machine it happens to one stream in 500.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'
import { Agent, fetch } from 'undici'
import { type ProxyName, startProxy } from './proxy.ts'

const streams = 5000
const atOnce = 100
const body = JSON.stringify({ model: 'mock:mock', stream: true, messages: [{ role: 'user', content: 'count' }] })

export async function earlyAnswers(t: Test, name: ProxyName): Promise<void> {
  // In a separate thread it answers at once, also while the clients are busy.
  const server = new Worker(serverCode, { eval: true })
  t.teardown(() => server.terminate())
  const [port] = (await once(server, 'message')) as [number]
  const proxy = await startProxy(name, [`http://127.0.0.1:${port}`])
  const agent = new Agent({ connections: atOnce })
  t.teardown(() => Promise.all([agent.close(), proxy.stop()]))
  let left = streams
  let cut = 0
  const client = async () => {
    while (left-- > 0) if (!(await isWhole(proxy.url, agent))) cut++
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  t.equal(cut, 0, `none of ${streams} streams was cut`, { failures: proxy.failures().slice(0, 3) })
}

async function isWhole(url: string, dispatcher: Agent): Promise<boolean> {
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body, dispatcher })
    return (await response.text()).endsWith('data: [DONE]\n\n')
  } catch {
    return false
  }
}

/** Writes its first piece when the last byte of the request is there, even before Node says that it has ended. */
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
