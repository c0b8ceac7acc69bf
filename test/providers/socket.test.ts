import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { toProviderError } from '../../providers/wire/failures.ts'
import { jsonFrames } from '../../providers/wire/json-frames.ts'
import { AddressRefused } from '../../runtime/outbound/address-guard.ts'
import { openSocket } from '../../runtime/outbound/open-socket.ts'
import { OutboundError } from '../../runtime/outbound/outbound-error.ts'
import type { OutboundSocketOptions } from '../../runtime/outbound/socket.ts'
import { UpgradeRefused } from '../../runtime/outbound/upgrade.ts'
import { certificate, transport } from './socket-parts.ts'
import { delay, failure, StubSocket, transcript, until } from './stub-socket.ts'

const never = new AbortController().signal

async function setup(t: Test, changes: Partial<OutboundSocketOptions> = {}) {
  const stub = await StubSocket.start()
  t.teardown(() => stub.close())
  const options: OutboundSocketOptions = {
    url: `${stub.url}/v1/listen?model=nova`,
    headers: [],
    protocols: [],
    connectMs: 5000,
    openMs: 5000,
    frameBytesMax: 100_000,
    bufferedBytesMax: 1_000_000,
    ...changes,
  }
  return { stub, open: (more: Partial<OutboundSocketOptions> = {}) => openSocket({ ...options, ...more }) }
}

t.test('a socket to a vendor sends and receives frames', async (t) => {
  const { stub, open } = await setup(t, { headers: ['Authorization', 'Token one'] })
  const socket = await open()
  t.equal(socket.isOpen, true)
  t.match(stub.asked[0], { url: '/v1/listen?model=nova', headers: { authorization: 'Token one' } })
  t.notOk(stub.asked[0]?.headers['sec-websocket-extensions'], 'no compression is offered')
  const received = transcript()
  socket.listen(received)
  const lent = Buffer.from('audio')
  socket.send('text')
  socket.send('')
  socket.send(lent)
  lent.fill(0)
  stub.answer = (ws, data, binary) => {
    if (!binary || data.toString() === 'audio') ws.send(data, { binary })
  }
  await until(() => received.lines.length === 3)
  t.same(received.lines, ['text', '', '5 bytes'])
  stub.accepted[0]?.close(4001, 'no credit')
  t.equal(await received.done, 'closed 4001 no credit')
  t.equal(socket.isOpen, false)
  socket.send('nobody hears it')
  socket.close()
  t.equal(socket.bufferedBytes, 0)
  await until(() => stub.open === 0)
})

t.test('a subprotocol is negotiated, or the upgrade fails', async (t) => {
  const { stub, open } = await setup(t)
  const socket = await open({ protocols: ['token', 'key-1'] })
  t.equal(stub.asked[0]?.headers['sec-websocket-protocol'], 'token,key-1')
  socket.close()
  const error = await failure(open({ protocols: ['not a protocol'] }))
  t.match(error, { failure: 'protocol', sent: false })
  const header = await failure(open({ headers: ['authorization', 'line\nbreak'] }))
  t.match(header, { failure: 'protocol', sent: false })
})

t.test('frames that arrive before a listener exists are buffered for the listener', async (t) => {
  const { stub, open } = await setup(t)
  stub.greeting = ['{"type":"session_started"}', 'second']
  const socket = await open()
  await until(() => stub.accepted.length === 1)
  await delay(20)
  stub.accepted[0]?.close(1000)
  await until(() => !socket.isOpen)
  const received = transcript()
  socket.listen(received)
  t.same(received.lines, [], 'not in the turn of the one who listens')
  await received.done
  t.same(received.lines, [...stub.greeting, 'closed 1000'])

  stub.greeting = ['one', 'two']
  const closing = await open()
  await delay(20)
  const reported: string[] = []
  const closes = {
    text: (text: string) => {
      reported.push(text)
      closing.close()
    },
    binary: () => {},
    closed: () => reported.push('closed'),
  }
  closing.listen(closes)
  await until(() => stub.open === 0)
  t.same(reported, ['one'], 'no event follows close')
})

t.test('unread frames, the size of a frame and unsent data are limited', async (t) => {
  const { stub, open } = await setup(t)
  stub.greeting = Array.from({ length: 70 }, () => 'unasked')
  const talkative = await open()
  await until(() => !talkative.isOpen)
  const received = transcript()
  talkative.listen(received)
  t.equal(await received.done, 'closed 1009 local: more came than anybody reads')

  stub.greeting = ['x'.repeat(100_001)]
  const large = transcript()
  ;(await open()).listen(large)
  t.equal(await large.done, 'closed 1009 local: a frame is too large')

  stub.greeting = []
  const flooded = await open()
  stub.accepted.at(-1)?.pause()
  const reported = transcript()
  flooded.listen(reported)
  const chunk = Buffer.alloc(65_536)
  let most = 0
  while (flooded.isOpen) {
    await new Promise((resolve) => setImmediate(resolve))
    flooded.send(chunk)
    most = Math.max(most, flooded.bufferedBytes)
  }
  t.equal(reported.lines.length, 0, 'an end is not reported during send')
  stub.accepted.at(-1)?.resume()
  t.equal(await reported.done, 'closed 1009 local: the server does not read')
  t.ok(most <= 1_000_000, `${most} bytes waited`)
  await until(() => stub.open === 0)
})

t.test(
  'a socket that breaks is reported with close code 1006, and a socket that sends garbage with 1002',
  async (t) => {
    const { stub, open } = await setup(t)
    const received = transcript()
    ;(await open()).listen(received)
    stub.accepted[0]?.terminate()
    t.equal(await received.done, 'closed 1006')

    const garbled = transcript()
    ;(await open()).listen(garbled)
    rawSocket(stub.accepted[1]).write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
    t.equal(await garbled.done, 'closed 1002 local: what came is no frame')
    await until(() => stub.open === 0)
  },
)

t.test('close sends a close frame, and destroys the connection if no close frame comes back', async (t) => {
  const { stub, open } = await setup(t)
  const polite = await open()
  const code = new Promise((resolve) => stub.accepted[0]?.once('close', resolve))
  polite.close()
  polite.close()
  t.equal(await code, 1000)
  const ignored = await open()
  const started = performance.now()
  rawSocket(stub.accepted[1]).removeAllListeners('data').resume()
  ignored.close()
  await until(() => stub.open === 0)
  t.ok(performance.now() - started > 1500, 'the server had its grace')
})

t.test('a refused upgrade gives the status, the body and Retry-After', async (t) => {
  const { stub, open } = await setup(t)
  const answer = (head: string, body: string) => {
    stub.upgrade = ({ socket }) => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  }
  answer('401 Unauthorized\r\nRetry-After: 3', '{"err_code":"INVALID_AUTH"}')
  const refused = await failure(open())
  if (!(refused instanceof UpgradeRefused)) throw refused
  t.equal(refused.answer.status, 401)
  t.equal(refused.answer.headers.get('retry-after'), '3')
  t.equal(refused.answer.body.toString(), '{"err_code":"INVALID_AUTH"}')
  answer('302 Found\r\nlocation: /elsewhere', '')
  t.match(await failure(open()), { answer: { status: 302 } }, 'a redirect is not followed')
  answer('500 No', 'x'.repeat(200_000))
  const { answer: cut } = (await failure(open())) as UpgradeRefused
  t.same([cut.status, cut.body.length], [500, 65_536])
  stub.upgrade = ({ socket }) => socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 10\r\n\r\nhalf')
  const half = await failure(open({ openMs: 1000 }))
  t.equal((half as UpgradeRefused).answer.body.toString(), 'half', 'a body that does not end in time')
  await until(() => stub.open === 0)
})

t.test('each way in which an upgrade fails has its kind of error', async (t) => {
  const { stub, open } = await setup(t)
  const fails = async (changes: Partial<OutboundSocketOptions>, expected: object, message = 'fails') => {
    const error = await failure(open(changes))
    t.ok(error instanceof OutboundError, error.message)
    t.match({ ...error }, expected, message)
  }
  const gone = await StubSocket.start()
  const nowhere = gone.url
  await gone.close()
  await fails({ url: nowhere }, { failure: 'unreachable', sent: false })
  await fails({ url: 'ws://name.invalid' }, { failure: 'unreachable', sent: false })
  stub.upgrade = () => {}
  await fails({ openMs: 50 }, { failure: 'first_byte_timeout', sent: true }, 'accepts and says nothing')
  stub.upgrade = ({ socket }) => socket.destroy()
  await fails({}, { failure: 'cut', sent: true })
  stub.upgrade = ({ socket }) => socket.end('SSH-2.0-OpenSSH\r\n')
  await fails({}, { failure: 'protocol', sent: true })
  stub.upgrade = ({ socket }) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
  await fails({}, { failure: 'protocol', sent: true }, 'the wrong accept')

  await fails({ signal: AbortSignal.abort('left') }, { failure: 'cancelled', sent: false })
  stub.upgrade = () => {}
  const leaving = new AbortController()
  const cancelled = failure(open({ signal: leaving.signal }))
  const asked = stub.asked.length
  await until(() => stub.asked.length > asked)
  leaving.abort('left')
  t.match({ ...(await cancelled) }, { failure: 'cancelled', sent: true })
  await until(() => stub.open === 0)
})

t.test('if a server never finishes the TLS handshake, the failure says that nothing was sent', async (t) => {
  const { open } = await setup(t)
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => void sockets.push(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const error = await failure(open({ url: `wss://127.0.0.1:${port}`, connectMs: 100 }))
  t.match({ ...error }, { failure: 'connect_timeout', sent: false })
})

const made = certificate()

t.test('wss:// works', { skip: made ? false : 'openssl, which makes the certificate, is not installed' }, async (t) => {
  const { stub, open } = await setup(t)
  // The TLS server only decrypts, and passes the bytes on to the plain stub.
  const server = createTlsServer(made ?? {}, (outer) => {
    const inner = connect(stub.port, '127.0.0.1')
    outer.on('error', () => inner.destroy()).on('close', () => inner.destroy())
    inner.on('error', () => outer.destroy()).on('close', () => outer.destroy())
    outer.pipe(inner).pipe(outer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `wss://localhost:${(server.address() as AddressInfo).port}/v1`
  t.match({ ...(await failure(open({ url }))) }, { failure: 'unreachable', sent: false }, 'an unknown certificate')
  t.equal(stub.asked.length, 0)
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  const socket = await open({ url })
  const received = transcript()
  socket.listen(received)
  socket.send('over TLS')
  await until(() => received.lines.length === 1)
  t.same(received.lines, ['over TLS'])
  stub.upgrade = () => {}
  t.match({ ...(await failure(open({ url, openMs: 50 }))) }, { failure: 'first_byte_timeout', sent: true })
  socket.close()
  await until(() => stub.open === 0)
})

t.test('the guard against private IP addresses checks each connection when it is made', async (t) => {
  const { stub, open } = await setup(t)
  const strict = { allowedSubnets: [] }
  const error = await failure(open({ guard: strict }))
  t.match({ ...error }, { failure: 'address_refused', sent: false })
  t.ok(error.cause instanceof AddressRefused)
  t.match({ ...(await failure(open({ url: 'ws://[::1]:80', guard: strict }))) }, { failure: 'address_refused' })
  const resolving = (...addresses: string[]) => ({
    allowedSubnets: ['127.0.0.1/32'],
    lookup: (
      _name: unknown,
      _options: unknown,
      callback: (error: null, all: { address: string; family: number }[]) => void,
    ) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      ),
  })
  const url = `ws://somewhere.example:${stub.port}/`
  const mixed = await failure(open({ url, guard: resolving('8.8.8.8', '10.0.0.1') }))
  t.match({ ...mixed }, { failure: 'address_refused', sent: false })
  t.equal(stub.asked.length, 0)
  const allowed = await open({ url, guard: resolving('127.0.0.1') })
  t.equal(stub.asked[0]?.headers.host, `somewhere.example:${stub.port}`)
  allowed.close()
  await until(() => stub.open === 0)
})

t.test('the transport adds credentials, maps http to ws in the base URL, and classifies failures', async (t) => {
  const { stub } = await setup(t)
  const sockets = transport(t, stub)
  const socket = await sockets.open('key-1', { path: '/listen?a=b', headers: ['x-one', '1'] }, never)
  t.match(stub.asked[0], { url: '/v1/listen?a=b', headers: { authorization: 'Token key-1', 'x-one': '1' } })
  socket.close()
  const unsigned = await transport(t, stub, { baseUrl: `${stub.url}?tenant=2` }).open(null, { path: '/x?a=b' }, never)
  t.equal(stub.asked[1]?.url, '/x?a=b&tenant=2')
  t.equal(stub.asked[1]?.headers.authorization, undefined)
  unsigned.close()

  const classOf = async (head: string, body = '') => {
    stub.upgrade = ({ socket }) => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    const error = await failure(sockets.open('key-1', { path: '/listen' }, never))
    if (!(error instanceof ProviderError)) throw error
    t.notMatch(JSON.stringify([error, error.cause]), 'key-1')
    const { errorClass, sent, status, retryAfterS } = error
    return { errorClass, sent, status, retryAfterS }
  }
  t.match(await classOf('401 No', 'bad key key-1'), { errorClass: 'auth', sent: true, status: 401 })
  t.match(await classOf('401 No', '{"err_code":"NO_CREDIT"}'), { errorClass: 'quota' })
  t.match(await classOf('429 Slow\r\nretry-after: 7'), { errorClass: 'rate_limited', retryAfterS: 7 })
  t.match(await classOf('503 Busy'), { errorClass: 'overloaded' })
  t.match(await classOf('404 None'), { errorClass: 'bad_request' })
  t.match(await classOf('200 OK', '{}'), { errorClass: 'protocol', sent: true })
  stub.upgrade = ({ socket }) => socket.destroy()
  t.match(await failure(sockets.open(null, { path: '/' }, never)), { errorClass: 'protocol', sent: true })
  const gone = transport(t, stub, { baseUrl: 'ws://127.0.0.1:1' })
  t.match(await failure(gone.open(null, { path: '/' }, never)), { errorClass: 'unreachable', sent: false })
  const left = failure(sockets.open(null, { path: '/' }, AbortSignal.abort()))
  t.match(await left, { errorClass: 'cancelled', sent: false })
  const refused = new OutboundError('address_refused', false)
  t.match(toProviderError(refused), { errorClass: 'unreachable', sent: false })
})

t.test('JSON frames are read, and any other frame is a protocol failure', (t) => {
  const reported: unknown[] = []
  const frames = (reads: (frame: object) => void, binary?: (bytes: Uint8Array) => void) =>
    jsonFrames({
      frame: reads,
      ...(binary && { binary }),
      failed: (error) => reported.push(error.errorClass, error.cause),
      closed: (code) => reported.push(code),
    })
  const good = frames((frame) => reported.push(frame))
  good.text('{"a":1}')
  good.closed(1000, '')
  t.same(reported.splice(0), [{ a: 1 }, 1000])
  for (const garbage of ['{"secret', '[]', '"text"', 'null', '']) {
    const reader = frames((frame) => reported.push(frame))
    reader.text(garbage)
    reader.text('{"late":true}')
    reader.closed(1006, '')
    t.match(reported.splice(0), ['protocol', /^a frame that is/], garbage)
  }
  const textOnly = frames(() => {})
  textOnly.binary(Buffer.from('{}'))
  t.match(reported.splice(0), ['protocol', 'bytes where text was due'])
  const refuses = frames(() => {
    throw new ProviderError('quota', { sent: true, cause: 'NO_CREDIT' })
  })
  refuses.text('{}')
  t.same(reported.splice(0), ['quota', 'NO_CREDIT'])
  const stumbles = frames((frame) => (frame as { results: unknown[] }).results[0])
  stumbles.text('{}')
  t.match(reported.splice(0), ['protocol', { name: 'TypeError' }])
  t.end()
})

/** Returns the TCP socket below the WebSocket. */
const rawSocket = (ws: unknown) => (ws as { _socket: Socket })._socket
