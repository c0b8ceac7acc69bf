/**
 * An organization that sends unfinished request bodies cannot use up the number of requests that the server handles at
 * once.
 */
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { answered, beginBody, crowd, post, posts } from './crowd.ts'

const limits = { requestsMax: 8 }
const ok = (count: number) => Array<number>(count).fill(200)

overEngines(t, (t) => {
  t.test('unfinished bodies of one organization leave a share of the requests to the others', async (t) => {
    const server = await crowd(t, { areSeveral: true, limits })
    const bodies = Array.from({ length: 20 }, () => beginBody(server, '/v1/take', 'a'))
    await server.clock.until('14 are refused', () => answered(bodies).length === 14)
    t.equal(server.inflight(), 6, 'three shares out of four')
    t.match(answered(bodies)[0]?.text, /^HTTP\/1.1 503[\s\S]*Retry-After: 1[\s\S]*too many requests at once/i)
    t.same(await posts(server, '/v1/take', 'b', 10), ok(10))
    t.equal(await post(server, '/v1/take', 'a'), 503)
    for (const { socket } of bodies) socket.destroy()
  })

  t.test('an unfinished body is refused if another organization is below its share of requests', async (t) => {
    const server = await crowd(t, { areSeveral: false, limits })
    const bodies = Array.from({ length: 8 }, () => beginBody(server, '/v1/take', 'a'))
    await until(() => server.inflight() === 8)
    t.same(answered(bodies), [], 'a single organization uses all places')
    t.equal(await post(server, '/v1/take', 'b'), 200)
    await until(() => answered(bodies).some(({ isClosed }) => isClosed))
    t.equal(answered(bodies).length, 1)
    t.match(answered(bodies)[0]?.text, /^HTTP\/1.1 503[\s\S]*Retry-After: 1[\s\S]*the body arrives too slowly/i)
    t.same(await posts(server, '/v1/take', 'b', 10), ok(10))
    for (const { socket } of bodies) socket.destroy()
  })

  t.test('a request whose body has arrived is not refused for another organization', async (t) => {
    const server = await crowd(t, { areSeveral: false, limits })
    const type = 'application/octet-stream'
    const bodies = Array.from({ length: 8 }, () => beginBody(server, '/v1/hold', 'a', { type, bytes: 4, sent: 'abcd' }))
    await until(() => server.held.length === 8)
    t.equal(await post(server, '/v1/take', 'b'), 503)
    for (const answer of server.held) answer()
    await until(() => answered(bodies).length === 8)
    t.match(answered(bodies), Array(8).fill({ text: /^HTTP\/1.1 200/ }))
    t.equal(await post(server, '/v1/take', 'b'), 200)
  })

  t.test('unfinished bodies without an API key do not block requests with an API key', async (t) => {
    const server = await crowd(t, { areSeveral: true, limits })
    const bodies = Array.from({ length: 20 }, () => beginBody(server, '/v1/webhook', ''))
    await server.clock.until('14 are refused', () => answered(bodies).length === 14)
    t.same(await posts(server, '/v1/take', 'b', 10), ok(10))
    for (const { socket } of bodies) socket.destroy()
    await until(() => server.inflight() === 0)
    t.equal(await post(server, '/v1/webhook', ''), 200)
  })

  t.test('requests whose keys are being looked up do not block requests with known keys', async (t) => {
    const lookups: (() => void)[] = []
    const authenticate = ({ authorization }: { authorization: string }) =>
      authorization === 'b'
        ? authorization
        : new Promise<string>((resolve) => lookups.push(() => resolve(authorization)))
    const server = await crowd(t, { areSeveral: true, limits, authenticate })
    for (let round = 0; round < 3; round++) {
      const requests = Array.from({ length: 10 }, () => post(server, '/v1/take', 'a'))
      await until(() => lookups.length === 10)
      t.same(await posts(server, '/v1/take', 'b', 3), ok(3))
      for (const find of lookups.splice(0)) find()
      const statuses = await Promise.all(requests)
      t.same(statuses.sort(), [...ok(6), 503, 503, 503, 503], 'a refused request keeps no place')
    }
  })

  t.test('a body that arrives before its API key is verified is read completely', async (t) => {
    const lookups: (() => void)[] = []
    const authenticate = ({ authorization }: { authorization: string }) =>
      new Promise<string>((resolve) => lookups.push(() => resolve(authorization)))
    const server = await crowd(t, { areSeveral: true, limits, authenticate })
    const first = beginBody(server, '/v1/take', 'a', { bytes: 7, sent: '{"a":1}' })
    const second = beginBody(server, '/v1/take', 'b', { bytes: 7, sent: '{"a"' })
    await until(() => lookups.length === 2)
    await server.clock.advance(100)
    for (const find of lookups) find()
    await until(() => answered([first]).length === 1)
    second.socket.write(':2}')
    await until(() => answered([second]).length === 1)
    t.match(first.text, /^HTTP\/1.1 200[\s\S]*\{"a":1\}$/)
    t.match(second.text, /^HTTP\/1.1 200[\s\S]*\{"a":2\}$/)
    for (const { socket } of [first, second]) socket.destroy()
  })
})
