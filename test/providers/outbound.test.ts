import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { type AddressPolicy, AddressRefused, checkHost, isAllowed } from '../../runtime/outbound/address-guard.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import { OutboundError } from '../../runtime/outbound/outbound-error.ts'
import { createPool, type OutboundRequest, type PoolOptions } from '../../runtime/outbound/pool.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { TestClock } from '../clock.ts'
import { wholeProcess } from '../time/quiet.ts'
import { collect, until } from './openai-setup.ts'
import { type Behaviour, startStubOpenAi } from './stub-openai.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())

function pool(t: Test, changes: Partial<PoolOptions> = {}) {
  const made = createPool({
    origin: stub.url,
    connectionsMax: 2,
    queuedMax: 1,
    connectMs: 1000,
    clock: systemClock,
    ...changes,
  })
  t.teardown(() => made.close())
  return made
}

const get: OutboundRequest = {
  method: 'GET',
  path: '/v1/models',
  headers: [],
  headersTimeoutMs: 5000,
  bodyTimeoutMs: 5000,
  totalMs: 5000,
  answerBytesMax: 1024,
}

t.test('an outbound request returns the status, the headers and the body', async (t) => {
  const answer = await pool(t).request({ ...get, headers: ['x-one', '1'] })
  t.match(answer, { status: 200 })
  t.equal(answer.headers.get('content-type'), 'application/json')
  t.equal(answer.headers.get('x-none'), undefined)
  t.match(JSON.parse(answer.body.toString()), { object: 'list' })
  t.equal(stub.requests.at(-1)?.headers['x-one'], '1')
})

t.test('the chunks of a body are written in order, with Content-Length', async (t) => {
  const body = [Buffer.from('one '), Buffer.alloc(300_000, 'x'), Buffer.from(' three')]
  const headers = ['content-type', 'application/octet-stream']
  await pool(t).request({ ...get, method: 'POST', headers, body })
  const sent = stub.requests.at(-1)
  t.equal(sent?.headers['content-length'], '300010')
  t.ok(sent?.body.equals(Buffer.concat(body)))
})

t.test('the number of connections and of requests that wait for a connection is limited', async (t) => {
  const small = pool(t)
  const before = stub.requests.length
  stub.behave({ kind: 'hang' }, { kind: 'hang' })
  const controllers = [new AbortController(), new AbortController(), new AbortController()]
  const running = controllers.map(({ signal }) => failure(small.request({ ...get, signal })))
  await until(() => stub.requests.length === before + 2)
  t.match({ ...(await failure(small.request(get))) }, { failure: 'queue_full', sent: false })
  controllers[2]?.abort()
  t.match({ ...(await running[2]) }, { failure: 'cancelled', sent: false }, 'one that only waited has sent nothing')
  controllers[0]?.abort()
  controllers[1]?.abort()
  for (const error of await Promise.all(running.slice(0, 2)))
    t.match({ ...error }, { failure: 'cancelled', sent: true })
  t.equal((await small.request(get)).status, 200, 'the places are free again')
  t.equal(stub.requests.length, before + 3, 'what was called off while it waited was never sent')
})

t.test('if the server is unreachable, the failure says that nothing was sent', async (t) => {
  const gone = await startStubOpenAi()
  await gone.close()
  const refused = await failure(pool(t, { origin: gone.url }).request(get))
  t.match({ ...refused }, { failure: 'unreachable', sent: false })
  const nameless = await failure(pool(t, { origin: 'http://name.invalid' }).stream(get))
  t.match({ ...nameless }, { failure: 'unreachable', sent: false })
  // Packets to this address range (RFC 5737) are lost. If there is no route, the connection is refused at once.
  const far = await failure(pool(t, { origin: 'http://192.0.2.1', connectMs: 50 }).request(get))
  t.ok(['connect_timeout', 'unreachable'].includes(far.failure), far.failure)
  t.equal(far.sent, false)
})

t.test('a server that does not speak HTTP is a protocol failure', async (t) => {
  const server = createTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const error = await failure(pool(t, { origin: `http://127.0.0.1:${port}` }).request(get))
  t.match({ ...error }, { failure: 'protocol', sent: true })
})

t.test('an answer that exceeds its limit is aborted', async (t) => {
  const large: Behaviour = { kind: 'custom', answer: (_, response) => response.end('x'.repeat(2000)) }
  stub.behave(large, large)
  t.equal((await failure(pool(t).request(get))).failure, 'answer_too_large')
  const { body } = await pool(t).stream(get)
  t.equal((await failure(collect(body))).failure, 'answer_too_large')
})

t.test('a redirect is an answer and is not followed', async (t) => {
  stub.behave({ kind: 'status', status: 307, headers: { location: '/v1/models' } })
  const before = stub.requests.length
  t.equal((await pool(t).request(get)).status, 307)
  t.equal(stub.requests.length, before + 1)
})

t.test('the rest of a discarded answer is read, within limits', async (t) => {
  const own = pool(t, { connectionsMax: 1 })
  const tail: Behaviour = {
    kind: 'custom',
    answer: (_, response) => {
      response.write('the part that matters')
      setTimeout(() => response.end('the rest'), 10)
    },
  }
  stub.behave(tail)
  const { body } = await own.stream(get)
  await body[Symbol.asyncIterator]().next()
  body.discard()
  await stub.requests.at(-1)?.closed
  const connections = stub.connections()
  await own.request(get)
  t.equal(stub.connections(), connections, 'the connection was kept')

  stub.behave({
    kind: 'custom',
    answer: (_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(16_384)), 1)
      response.once('close', () => clearInterval(timer))
    },
  })
  const endless = await own.stream({ ...get, answerBytesMax: 1024 * 1024 })
  endless.body.discard()
  await stub.requests.at(-1)?.closed
})

t.test('a request is aborted if the server sends nothing within the idle limit', async (t) => {
  const clock = new TestClock({ quiet: wholeProcess })
  const own = pool(t, { clock })
  const failureOf = async (work: Promise<unknown>) => ({ ...(await clock.during(failure(work))) })
  stub.behave({ kind: 'hang' })
  t.match(await failureOf(own.request({ ...get, headersTimeoutMs: 100 })), { failure: 'first_byte_timeout' })
  const half: Behaviour = { kind: 'custom', answer: (_, response) => response.write('half') }
  stub.behave(half, half)
  t.match(await failureOf(own.request({ ...get, bodyTimeoutMs: 100 })), { failure: 'idle_timeout' })
  const { body } = await own.stream({ ...get, bodyTimeoutMs: 600 })
  t.match(await failureOf(collect(body)), { failure: 'idle_timeout', sent: true }, 'also the third time')
})

t.test('a request is not aborted if the server sends slowly but steadily', async (t) => {
  const clock = new TestClock({ quiet: wholeProcess })
  const own = pool(t, { clock })
  const slowly: Behaviour = {
    kind: 'custom',
    answer: (_, response) => {
      const sendRest = (left: number) => {
        response.write('x')
        if (left === 1) response.end()
        else clock.after(60, () => sendRest(left - 1))
      }
      clock.after(60, () => sendRest(15))
    },
  }
  stub.behave(slowly, slowly)
  t.equal((await clock.during(own.request({ ...get, bodyTimeoutMs: 300 }))).body.length, 15)
  const { body } = await clock.during(own.stream({ ...get, bodyTimeoutMs: 300 }))
  t.equal((await clock.during(collect(body))).length, 15)

  const processing: Behaviour = {
    kind: 'custom',
    answer: (_, response) => {
      response.writeProcessing()
      clock.after(800, () => response.end('done'))
    },
  }
  stub.behave(processing, processing)
  const patient = { ...get, headersTimeoutMs: 5000, bodyTimeoutMs: 200 }
  const answer = await clock.during(own.request(patient))
  t.equal(answer.body.toString(), 'done', 'an answer on the way is not the answer')
  t.equal((await clock.during(own.stream(patient))).status, 200)
})

t.test('the wait for a connection does not count towards the idle limit', async (t) => {
  const clock = new TestClock({ quiet: wholeProcess })
  const own = pool(t, { connectionsMax: 1, clock })
  stub.behave({ kind: 'custom', answer: (_, response) => void clock.after(700, () => response.end()) })
  const first = own.request(get)
  const second = own.request({ ...get, headersTimeoutMs: 300 })
  t.equal((await clock.during(first)).status, 200)
  t.equal((await clock.during(second)).status, 200)
})

t.test("a slow reader's pauses do not count towards the idle limit", async (t) => {
  const bytes = 1024 * 1024
  stub.behave({ kind: 'custom', answer: (_, response) => response.end('x'.repeat(bytes)) })
  const clock = new TestClock({ quiet: wholeProcess })
  const own = pool(t, { clock })
  const { body } = await own.stream({ ...get, bodyTimeoutMs: 100, answerBytesMax: bytes })
  await clock.advance(600)
  let read = 0
  for await (const chunk of body) read += chunk.length
  t.equal(read, bytes)

  // The server sends more than the client buffers for a reader, and then nothing.
  stub.behave({ kind: 'custom', answer: (_, response) => response.write('x'.repeat(bytes)) })
  const half = await own.stream({ ...get, bodyTimeoutMs: 100, answerBytesMax: 2 * bytes })
  await clock.advance(600)
  t.equal(
    (await clock.during(failure(collect(half.body)))).failure,
    'idle_timeout',
    'the server is silent once all is read',
  )
})

t.test('server-sent events are read correctly wherever their chunks are split', async (t) => {
  const events = (chunks: string[], max = 100) => collect(readEventStream(chunked(chunks), max))
  t.same(
    await events([
      '\u{feff}data: one\n\nevent: x\r\nda',
      'ta: two\r\ndata: lines\r\n\r\n: comment\n\ndata:3\n\n',
      'data: cut',
    ]),
    [{ data: 'one' }, { event: 'x', data: 'two\nlines' }, { data: '3' }],
  )
  const umlaut = Buffer.from('data: größer\n\n')
  const cutInALetter = [Buffer.from('data: plain\n\n'), umlaut.subarray(0, 9), umlaut.subarray(9)]
  t.same(
    await collect(readEventStream(Readable.from(cutInALetter), 100)),
    [{ data: 'plain' }, { data: 'größer' }],
    'a letter in two chunks, behind one that was ASCII',
  )
  t.same(
    await events(['data: a', '\u{feff}b\n\n']),
    [{ data: 'a\u{feff}b' }],
    'a byte order mark is none in the middle of a stream',
  )
  t.same(await events(['', '\u{feff}data: a\n\n']), [{ data: 'a' }], 'and is one behind a chunk without a byte')
  const long = await failure(events(['data: ', 'x'.repeat(60), 'x'.repeat(60)]))
  t.equal(long.failure, 'protocol', 'one line without end')
  const many = await failure(events(Array.from({ length: 20 }, () => 'data: 12345678\n')))
  t.equal(many.failure, 'protocol', 'one event without end')
  t.equal((await events(Array.from({ length: 20 }, () => 'data: 12345678\n\n'))).length, 20)
})

const strict: AddressPolicy = { allowedSubnets: [] }

t.test('private and reserved addresses are refused in URLs of users, in any spelling', (t) => {
  const refused = `127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 192.0.0.1 198.18.0.1 224.0.0.1
    255.255.255.255 ::1 :: fe80::1 fd00::1 ::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::808:808 2002:7f00:1:: 2001::1 2001:db8::1 ff02::1 4000::1`
  for (const address of refused.split(/\s+/)) t.notOk(isAllowed(address, strict), address)
  for (const address of ['8.8.8.8', '2606:4700:4700::1111']) t.ok(isAllowed(address, strict), address)
  t.ok(isAllowed('10.1.2.3', { allowedSubnets: ['fd00::/8', '10.0.0.0/8'] }))
  const hosts = `http://127.1/ http://2130706433/ http://0x7f.1/ http://0177.0.0.1/ http://127.0.0.1./ http://１２７.0.0.1/ http://[::1]/
    http://[::ffff:127.0.0.1]/`
  for (const url of hosts.split(/\s+/))
    t.throws(() => checkHost(new URL(url).hostname, strict), { name: 'AddressRefused' }, url)
  for (const host of ['example.com', '8.8.8.8']) checkHost(host, strict)
  t.end()
})

t.test('the IP address of a host is checked when the connection is made', async (t) => {
  const { port } = stub
  const before = stub.requests.length
  const literal = await failure(pool(t, { guard: strict }).request(get))
  t.match({ ...literal }, { failure: 'address_refused', sent: false })
  t.ok(literal.cause instanceof AddressRefused)
  const answers = (...addresses: string[]): AddressPolicy => ({
    allowedSubnets: ['127.0.0.1/32'],
    lookup: (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      ),
  })
  const origin = `http://somewhere.example:${port}`
  const mixed = await failure(pool(t, { origin, guard: answers('8.8.8.8', '10.0.0.1') }).request(get))
  t.match({ ...mixed }, { failure: 'address_refused', sent: false }, 'one private address among public ones')
  t.match({ ...(await failure(pool(t, { origin, guard: answers() }).request(get))) }, { failure: 'address_refused' })
  t.equal(stub.requests.length, before)
  t.equal((await pool(t, { origin, guard: answers('127.0.0.1') }).request(get)).status, 200, 'what the operator opened')
  t.equal(stub.requests.at(-1)?.headers.host, `somewhere.example:${port}`)
})

async function failure(work: Promise<unknown>): Promise<OutboundError> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  )
  if (error instanceof OutboundError) return error
  throw error
}

async function* chunked(texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text))
}
