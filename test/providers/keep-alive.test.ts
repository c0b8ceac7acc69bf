/** Tests when an idle connection is used again, and requests on a connection just after its server has closed it. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { OutboundError } from '../../runtime/outbound/outbound-error.ts'
import { createPool, type OutboundRequest } from '../../runtime/outbound/pool.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { delay, failure, until } from './stub-socket.ts'

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const post: OutboundRequest = {
  method: 'POST',
  path: '/v1/speak',
  headers: ['content-type', 'text/plain'],
  body: 'Hello',
  headersTimeoutMs: 5000,
  bodyTimeoutMs: 5000,
  totalMs: 5000,
  answerBytesMax: 1024,
}

/**
 * Starts a server on plain TCP, because Node's own server would announce its keep-alive time. `served` counts the
 * connection's earlier requests.
 */
async function setup(t: Test, serve: (socket: Socket, served: number) => void) {
  const connections: Socket[] = []
  let requests = 0
  const server = createServer((socket) => {
    let served = 0
    connections.push(socket.on('error', () => {}))
    socket.on('data', () => {
      requests++
      serve(socket, served++)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const pool = createPool({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connectionsMax: 4,
    queuedMax: 4,
    connectMs: 1000,
    clock: systemClock,
  })
  t.teardown(async () => {
    await pool.close()
    for (const socket of connections) socket.destroy()
    server.close()
  })
  return { pool, connections, requests: () => requests }
}

t.test('a connection is used again after a pause between two requests', async (t) => {
  const { pool, connections } = await setup(t, (socket) => socket.write(answer))
  await pool.request(post)
  // This wait is 2 s longer than undici's default keep-alive time of 4 s, because undici's timers tick only once or
  // twice a second.
  await delay(6000)
  await pool.request(post)
  t.equal(connections.length, 1)
})

t.test('if the server has closed an idle connection, the next request still succeeds', async (t) => {
  const { pool, connections, requests } = await setup(t, (socket) => socket.write(answer))
  await pool.request(post)
  for (let i = 1; i <= 30; i++) {
    await idle()
    // The request follows in the same tick, so the connection's end is on its way but has not arrived.
    connections.at(-1)?.end()
    t.equal((await pool.request(post)).status, 200)
    t.equal(connections.length, 1 + i)
  }
  t.equal(requests(), 31, 'nothing was sent twice')
})

t.test('a connection that its server has reset is not used for a request', async (t) => {
  const { pool, connections, requests } = await setup(t, (socket) => socket.write(answer))
  await pool.request(post)
  await idle()
  connections[0]?.resetAndDestroy()
  // undici counts the reset as a failure of the waiting request.
  t.match({ ...(await failure(pool.request(post))) }, { failure: 'unreachable', sent: false })
  t.equal(requests(), 1)
  t.equal((await pool.request(post)).status, 200)
  await idle()
  connections[1]?.resetAndDestroy()
  await idle()
  t.equal((await pool.request(post)).status, 200, 'once it is known, it costs nothing')
})

t.test('if a server closes the connection while a request is sent, the request is not sent again', async (t) => {
  const { pool, connections, requests } = await setup(t, (socket, served) => {
    if (served === 0) socket.write(answer)
    else socket.resetAndDestroy()
  })
  await pool.request(post)
  await idle()
  const error = await failure(pool.request(post))
  t.ok(error instanceof OutboundError)
  t.match({ ...error }, { failure: 'cut', sent: true })
  await delay(20)
  t.equal(requests(), 2)
  t.equal(connections.length, 1)
})

t.test('a connection is closed before the time that its server announced', async (t) => {
  const { pool, connections } = await setup(t, (socket) =>
    socket.write(answer.replace('\r\n\r\n', '\r\nkeep-alive: timeout=3\r\n\r\n')),
  )
  await pool.request(post)
  await until(() => connections[0]?.readyState !== 'open', 'the end of the connection')
  t.equal((await pool.request(post)).status, 200)
  t.equal(connections.length, 2)
})

/** Waits until the last response's connection is idle. Before that undici would open another connection. */
const idle = () => delay(5)
