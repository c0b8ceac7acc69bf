/** Streams at full speed: organizations read one after another, however many streams one of them has. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createPool } from '../../runtime/outbound/pool.ts'
import { systemClock } from '../../runtime/timing/clock.ts'

const page = Buffer.alloc(65_536, 'data: {"choices":[]}\n\n')
const hostileStreams = 20
const honestBytes = 8 * 1024 * 1024
/**
 * A turn has up to four chunks. The honest stream has one of them if its bytes have come, so it reads about a quarter.
 * Without turns it would read a twentieth.
 */
const hostileBytesMax = 10 * honestBytes

t.test('the streams of one organization do not slow down the stream of another', async (t) => {
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
  const pool = createPool({ origin, connectionsMax: 32, queuedMax: 1, connectMs: 5000, clock: systemClock })
  t.teardown(() => pool.close())
  const bytes = { hostile: 0, honest: 0 }
  const limits = { headersTimeoutMs: 20_000, bodyTimeoutMs: 20_000, totalMs: 60_000, answerBytesMax: 1_000_000_000 }
  const open = async (owner: keyof typeof bytes) => {
    const { body } = await pool.stream({ method: 'GET', path: '/', headers: [], owner, ...limits })
    return { owner, body }
  }
  const read = async ({ owner, body }: Awaited<ReturnType<typeof open>>) => {
    for await (const chunk of body) {
      bytes[owner] += chunk.length
      if (bytes.honest >= honestBytes) return
    }
  }
  const streams = await Promise.all([...Array.from({ length: hostileStreams }, () => open('hostile')), open('honest')])
  await Promise.all(streams.map(read))
  t.ok(bytes.hostile < hostileBytesMax, `the hostile organization has read ${bytes.hostile} bytes`)
})
