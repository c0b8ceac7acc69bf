/**
 * If many streams arrive at full speed, an event loop turn reads a limited part from them, and then serves other
 * sockets.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createPool } from '../../runtime/outbound/pool.ts'
import { systemClock } from '../../runtime/timing/clock.ts'

/** Small HTTP chunks, so a turn must count the bytes of several chunks. */
const page = Buffer.alloc(4_000, 'data: {"choices":[]}\n\n')
const streams = 40
const turns = 200
/**
 * In one turn all streams together may read 256 KiB. Each stream may read 16 KiB before that, and may exceed each limit
 * by one chunk.
 */
const turnBytesMax = 262_144 + streams * (16_384 + 2 * page.length)

t.test('a turn of the event loop reads a bounded part of all streams', async (t) => {
  const server = createServer((_request, response) => {
    const fill = () => {
      while (!response.destroyed && response.write(page));
    }
    response.on('drain', fill)
    fill()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  t.teardown(() => server.closeAllConnections())
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const pool = createPool({ origin, connectionsMax: streams, queuedMax: 1, connectMs: 5000, clock: systemClock })
  t.teardown(() => pool.close())
  const limits = { headersTimeoutMs: 20_000, bodyTimeoutMs: 20_000, totalMs: 60_000, answerBytesMax: 1_000_000_000 }
  const open = () => pool.stream({ method: 'GET', path: '/', headers: [], ...limits })
  const opened = await Promise.all(Array.from({ length: streams }, open))
  const bytes: number[] = []
  let inTurn = 0
  let isOver = false
  const countTurn = () => {
    if (inTurn > 0) bytes.push(inTurn)
    inTurn = 0
    isOver = bytes.length >= turns
    if (!isOver) setImmediate(countTurn)
  }
  countTurn()
  const read = async ({ body }: (typeof opened)[number]) => {
    for await (const chunk of body) {
      inTurn += chunk.length
      if (isOver) return
    }
  }
  await Promise.all(opened.map(read))
  // The first turn reads what has arrived before the readers began.
  const most = Math.max(...bytes.slice(1))
  t.ok(most <= turnBytesMax, `${most} bytes in a turn`)
})
