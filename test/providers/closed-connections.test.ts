/** A provider's server closes the connection while its response is read slowly: the response is read to its end. */

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createPool, type OutboundRequest } from '../../runtime/outbound/pool.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { wholeProcess } from '../time/quiet.ts'

const get: OutboundRequest = {
  method: 'GET',
  path: '/',
  headers: [],
  headersTimeoutMs: 5000,
  bodyTimeoutMs: 5000,
  totalMs: 5000,
  answerBytesMax: 1_000_000,
}
/** The reader pauses at 64 KiB: at the end of the first answer, and in the middle of the other answers. */
const lengths = [65_536, 70_000, 200_000]
type Way = { connection: string; close: (socket: Socket) => void; lengths: readonly number[] }
const ways: Record<string, Way> = {
  'ends a connection that it does not keep': { connection: 'close', close: (socket) => socket.end(), lengths },
  'resets a connection that it does not keep': {
    connection: 'close',
    close: (socket) => socket.resetAndDestroy(),
    // A reset drops bytes that the other side has not received, so a longer answer is not whole.
    lengths: [65_536, 70_000],
  },
  'ends a connection that it keeps': { connection: 'keep-alive', close: (socket) => socket.end(), lengths },
}

for (const [name, { connection, close, lengths }] of Object.entries(ways))
  t.test(`an answer that is read slowly is complete if the server ${name}`, async (t) => {
    for (const bytes of lengths) {
      const { pool, socket } = await setUp(t, bytes, connection)
      const { body } = await pool.stream(get)
      await wholeProcess.settled()
      close(await socket)
      await wholeProcess.settled()
      let read = 0
      for await (const chunk of body) read += chunk.length
      t.equal(read, bytes, `${bytes} bytes`)
    }
  })

t.test('an incomplete answer causes an error, even if the answer is read slowly', async (t) => {
  for (const connection of ['close', 'keep-alive']) {
    const { pool, socket } = await setUp(t, 65_536, connection, 100_000)
    const { body } = await pool.stream(get)
    await wholeProcess.settled()
    ;(await socket).end()
    await wholeProcess.settled()
    const reading = (async () => {
      for await (const chunk of body) t.ok(chunk.length > 0)
    })()
    await t.rejects(reading, { name: 'OutboundError' }, connection)
  }
})

/** A server that sends a body, and leaves the connection open. `declared` is the Content-Length in its answer. */
async function setUp(t: Test, bytes: number, connection: string, declared = bytes) {
  let resolve: (socket: Socket) => void = () => {}
  const socket = new Promise<Socket>((done) => {
    resolve = done
  })
  const server = createServer((accepted) => {
    accepted.on('error', () => {})
    accepted.once('data', () => {
      accepted.write(`HTTP/1.1 200 OK\r\nContent-Length: ${declared}\r\nConnection: ${connection}\r\n\r\n`)
      accepted.write(Buffer.alloc(bytes, 'a'))
      resolve(accepted)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pool = createPool({ origin, connectionsMax: 1, queuedMax: 1, connectMs: 1000, clock: systemClock })
  t.teardown(() => pool.close())
  return { pool, socket }
}
