/** Hostile webhook receivers, host names and IP addresses. */
import { lookup as systemLookup } from 'node:dns'
import type { ServerResponse } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { NumberedAttempt } from '../../domain/records/webhook-delivery.ts'
import type { DeliveryTargets } from '../../domain/records/webhook-endpoint.ts'
import { TestClock } from '../clock.ts'
import { TestCluster } from '../store/cluster.ts'
import { wholeProcess } from '../time/quiet.ts'
import { type Answer, inOrder, ok, startReceiver } from './receiver.ts'
import { openWorld, setClock, type World } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

async function listen(t: Test, serve: (socket: Socket) => void, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Delivers one event to the URL. Returns the log entry for its only attempt. */
async function attempt(world: World, url: string) {
  await world.emit(await world.endpoint(url, { timeoutMs: 30_000 }))
  await world.settle(world.dispatcher())
  const { delivery, attempts } = await world.whole((await world.ids()).at(-1) ?? '')
  return { delivery, attempt: attempts[0] }
}

async function answered(t: Test, world: World, answer: Answer) {
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  return { ...(await attempt(world, receiver.url)), received: receiver.received }
}

t.test("only a limited part of a webhook receiver's answer is read", async (t) => {
  const world = await openWorld(t, cluster)
  const endless: Answer = (response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) {}
      if (!response.destroyed) response.once('drain', write)
    }
    write()
  }
  const flood = await answered(t, world, endless)
  t.match(flood.attempt, { error: 'body_too_large', responseStatus: 200, isResponseTruncated: true })
  t.equal(flood.attempt?.responseBody?.length, 4_096)

  const most = await answered(t, world, (response) => response.end('x'.repeat(65_536)))
  t.match(most.attempt, { error: null, isResponseTruncated: true })
  const more = await answered(t, world, (response) => response.end('x'.repeat(65_537)))
  t.match(more.attempt, { error: 'body_too_large' })
  const logged = await answered(t, world, (response) => response.end('x'.repeat(4_096)))
  t.match(logged.attempt, { error: null, isResponseTruncated: false })

  const bomb = gzipSync(Buffer.alloc(20_000_000))
  const unpacked = await answered(t, world, (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  t.match(unpacked.attempt, { error: 'body_too_large', isResponseTruncated: true })
  t.equal(unpacked.attempt?.responseBody?.length, 0, 'the content is larger than the limit, so it is not kept')
  for (const [coding, bytes, kept] of [
    ['gzip', gzipSync('thanks'), 'thanks'],
    ['GZIP', gzipSync('thanks').subarray(0, 12), ''],
    ['compress', Buffer.from('x'), ''],
    ['identity', Buffer.from('x'), 'x'],
  ] as const) {
    const packed = await answered(t, world, (response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(bytes)
    })
    t.match(packed.attempt, { error: null, isResponseTruncated: false }, coding)
    t.equal(Buffer.from(packed.attempt?.responseBody ?? []).toString(), kept, coding)
  }

  const bytes = await answered(t, world, (response) => response.end(Buffer.from([0, 255, 0x61])))
  t.same(Buffer.from(bytes.attempt?.responseBody ?? []), Buffer.from([0, 255, 0x61]))
})

t.test('the time-out bounds the wait for headers and for the body', async (t) => {
  const time = new TestClock({ quiet: wholeProcess })
  // The time of day stands still, so no attempt is repeated.
  const clock = { ...setClock(), monotonicMs: () => time.monotonicMs(), after: time.after.bind(time) }
  const world = await openWorld(t, cluster, { time, clock })
  const timedOut = async (title: string, work: Promise<{ attempt: NumberedAttempt | undefined }>) =>
    t.match((await work).attempt, { error: 'timeout', durationMs: 30_000 }, title)
  /** Writes once per second on the clock. */
  const trickle = (to: Socket | ServerResponse, text: string) => {
    if (to.destroyed) return
    to.write(text)
    time.after(1_000, () => trickle(to, text))
  }
  await timedOut(
    'no answer',
    answered(t, world, () => {}),
  )
  const slowHeaders = await listen(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    trickle(socket, 'x-a: b\r\n')
  })
  await timedOut('slow headers', attempt(world, `http://127.0.0.1:${slowHeaders}/`))
  await timedOut(
    'slow body',
    answered(t, world, (response) => trickle(response, 'x')),
  )
  const interim = await listen(t, (socket) => trickle(socket, 'HTTP/1.1 102 Processing\r\n\r\n'))
  await timedOut('interim answers without end', attempt(world, `http://127.0.0.1:${interim}/`))
})

t.test('an attempt accepts 20 interim responses (1xx), but very many end the attempt at once', async (t) => {
  const world = await openWorld(t, cluster)
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'
  const patient = await listen(t, (socket) => {
    socket.once('data', () => socket.write(`${interim.repeat(20)}HTTP/1.1 204 No Content\r\n\r\n`))
  })
  t.match((await attempt(world, `http://127.0.0.1:${patient}/`)).attempt, { error: null, responseStatus: 204 })
  const flood = await listen(t, (socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(interim.repeat(1_000)));
    }
    socket.once('data', write).on('drain', write)
  })
  const { attempt: flooded } = await attempt(world, `http://127.0.0.1:${flood}/`)
  t.match(flooded, { error: 'connect', responseStatus: null })
})

t.test('if a receiver drops the connection or does not speak HTTP, the attempt fails', async (t) => {
  const world = await openWorld(t, cluster)
  const closing = await listen(t, (socket) => socket.once('data', () => socket.destroy()))
  t.match((await attempt(world, `http://127.0.0.1:${closing}/`)).attempt, { error: 'connect', responseStatus: null })
  const garbage = await listen(t, (socket) => socket.end('no HTTP at all\r\n\r\n'))
  t.match((await attempt(world, `http://127.0.0.1:${garbage}/`)).attempt, { error: 'connect' })
  const headers = await listen(t, (socket) => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`))
  t.match((await attempt(world, `http://127.0.0.1:${headers}/`)).attempt, { error: 'connect' })
  t.match((await attempt(world, 'http://127.0.0.1:1/')).attempt, { error: 'connect' })
  t.match((await attempt(world, `https://127.0.0.1:${garbage}/`)).attempt, { error: 'tls' })
})

t.test('a redirect of a webhook is a failure and is not followed', async (t) => {
  const world = await openWorld(t, cluster)
  const inside = await startReceiver()
  t.teardown(() => inside.close())
  for (const code of [301, 302, 303, 307, 308]) {
    const redirect: Answer = (response) => response.writeHead(code, { location: inside.url }).end()
    const { attempt, delivery } = await answered(t, world, redirect)
    t.match(attempt, { error: 'redirect', responseStatus: code })
    t.match(delivery, { status: 'pending', error: 'redirect' })
  }
  t.equal(inside.received.length, 0)
})

t.test('a webhook to a private address is not sent, however the address is spelled', async (t) => {
  const world = await openWorld(t, cluster, { client: { guard: { allowedSubnets: [] } } })
  let connections = 0
  const port = await listen(t, () => connections++, '0.0.0.0')
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '１２７.0.0.1', '0.0.0.0', '0'],
    ...[
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '169.254.169.254',
      '192.0.2.1',
      '198.18.0.1',
      '224.0.0.1',
    ],
    ...[
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
      '[fd00::1]',
      '[fe80::1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
    ],
    'localhost',
  ]
  const endpoints = new Map<string, string>()
  for (const host of hosts)
    for (const scheme of ['https', 'http']) {
      const url = `${scheme}://${host}:${port}/`
      endpoints.set(await world.endpoint(url), url)
    }
  await world.emit([...endpoints.keys()])
  await world.settle(world.dispatcher())
  for (const id of await world.ids()) {
    const { delivery, attempts } = await world.whole(id)
    t.match(attempts, [{ error: 'address_blocked', responseStatus: null }], endpoints.get(delivery.endpointId) ?? '')
  }
  t.equal(connections, 0)
})

type Lookup = NonNullable<NonNullable<Parameters<typeof openWorld>[2]>['client']>['guard'] extends infer Guard
  ? NonNullable<NonNullable<Guard> extends { lookup?: infer L } ? L : never>
  : never

const resolvesTo =
  (...answers: string[][]): Lookup =>
  (_host, _options, done) => {
    const addresses = answers.length > 1 ? answers.shift() : answers[0]
    done(
      null,
      (addresses ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }

t.test('a webhook is refused if one of the DNS answers is a private address', async (t) => {
  let connections = 0
  const port = await listen(t, () => connections++)
  for (const answer of [
    ['127.0.0.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['127.0.0.1', '93.184.216.34'],
    ['2606:4700::1111', '::1'],
  ]) {
    const guard = { allowedSubnets: [], lookup: resolvesTo(answer) }
    const world = await openWorld(t, cluster, { client: { guard } })
    t.match(
      (await attempt(world, `https://hooks.example:${port}/`)).attempt,
      { error: 'address_blocked' },
      answer.join(),
    )
  }
  t.equal(connections, 0)
})

t.test('a connection goes to the IP address that was checked, without a second DNS lookup', async (t) => {
  const receiver = await startReceiver((response) => response.writeHead(200, { connection: 'close' }).end())
  t.teardown(() => receiver.close())
  let others = 0
  await listen(t, () => others++, '127.0.0.9', receiver.port)
  const lookup = resolvesTo(['127.0.0.1'], ['127.0.0.9'])
  const world = await openWorld(t, cluster, { client: { guard: { allowedSubnets: ['127.0.0.1/32'], lookup } } })
  const url = `http://hooks.example:${receiver.port}/`
  t.match((await attempt(world, url)).attempt, { error: null })
  t.match((await attempt(world, url)).attempt, { error: 'address_blocked' }, 'the next connection asks again')
  t.equal(receiver.received.length, 1)
  t.equal(others, 0)
})

t.test('if a host name does not exist, the attempt has failed', async (t) => {
  const notFound: typeof systemLookup = ((_host: string, _options: object, done: (error: Error) => void) => {
    done(Object.assign(new Error('getaddrinfo ENOTFOUND hooks.example'), { code: 'ENOTFOUND' }))
  }) as never
  const guard = { allowedSubnets: [], lookup: notFound as unknown as Lookup }
  const world = await openWorld(t, cluster, { client: { guard } })
  t.match((await attempt(world, 'https://hooks.example/')).attempt, { error: 'dns', responseStatus: null })
})

t.test('a secret header reaches the receiver, and is not logged', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(inOrder(ok))
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url, { headers: { 'x-shop': 'one' } })
  await world.emit(endpoint)
  const targets: DeliveryTargets = {
    deliveryTarget: async (tenant, id) => {
      const target = await world.store.webhookTargets.deliveryTarget(tenant, id)
      return target && { ...target, authHeaders: { Authorization: 'Bearer s3cret' } }
    },
  }
  await world.settle(world.dispatcher({ targets }))
  t.match(receiver.received[0]?.headers, {
    authorization: 'Bearer s3cret',
    'x-shop': 'one',
    'content-type': 'application/json',
  })
  const { attempts } = await world.whole((await world.ids())[0] ?? '')
  t.match(attempts[0]?.requestHeaders, { Authorization: '***', 'x-shop': 'one' })
  t.notMatch(JSON.stringify(await world.sql`select * from webhook_attempts`), 's3cret')
})
