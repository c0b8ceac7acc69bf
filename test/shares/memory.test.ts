/** An organization with unfinished uploads cannot use up the memory for uploads. */
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { answered, beginBody, type Crowd, crowd, post } from './crowd.ts'

const limits = { uploadMemory: 80_000 }
const type = 'application/octet-stream'

/** Begins uploads of 20 KB, and sends half of each: so little that no part waits for room in the kernel. */
function halves(server: Crowd, count: number) {
  const upload = () => beginBody(server, '/v1/upload', 'a', { type, bytes: 20_000, sent: Buffer.alloc(10_000) })
  return Array.from({ length: count }, upload)
}

overEngines(t, (t) => {
  t.test('unfinished uploads leave a share of the upload memory to the other organizations', async (t) => {
    const server = await crowd(t, { areSeveral: true, limits })
    const uploads = halves(server, 10)
    await server.clock.until('four are refused', () => answered(uploads).length >= 4)
    t.match(answered(uploads)[0]?.text, /^HTTP\/1.1 503[\s\S]*Retry-After: 5[\s\S]*too many uploads at once/i)
    for (let i = 0; i < 5; i++) t.equal(await post(server, '/v1/upload', 'b', Buffer.alloc(20_000), type), 200)
    t.equal(await post(server, '/v1/upload', 'a', Buffer.alloc(20_000), type), 503)
    for (const { socket } of uploads) socket.destroy()
  })

  t.test('an unfinished upload is refused if another organization needs its memory', async (t) => {
    const server = await crowd(t, { areSeveral: false, limits })
    const uploads = halves(server, 7)
    await until(() => server.inflight() === 7)
    await server.clock.advance(10)
    t.same(answered(uploads), [], 'a single organization uses all memory')
    t.equal(await post(server, '/v1/upload', 'b', Buffer.alloc(20_000), type), 200)
    await until(() => answered(uploads).some(({ isClosed }) => isClosed))
    t.equal(answered(uploads).length, 1)
    t.match(answered(uploads)[0]?.text, /^HTTP\/1.1 503[\s\S]*the body arrives too slowly/)
    for (const { socket } of uploads) socket.destroy()
    await until(() => server.inflight() === 0)
    t.equal(await post(server, '/v1/upload', 'a', Buffer.alloc(60_000), type), 200, 'all but a share is free again')
  })

  t.test('an upload that arrives before its API key is verified counts for its organization', async (t) => {
    const lookups: (() => void)[] = []
    const authenticate = ({ authorization }: { authorization: string }) =>
      new Promise<string>((resolve) => lookups.push(() => resolve(authorization)))
    const server = await crowd(t, { areSeveral: true, limits, authenticate })
    const upload = post(server, '/v1/hold', 'a', Buffer.alloc(50_000), type)
    await until(() => lookups.length === 1)
    await server.clock.advance(10)
    lookups[0]?.()
    await until(() => server.held.length === 1)
    const second = post(server, '/v1/upload', 'a', Buffer.alloc(20_000), type)
    await until(() => lookups.length === 2)
    lookups[1]?.()
    t.equal(await second, 503)
    server.held[0]?.()
    t.equal(await upload, 200)
  })
})
