/** Tests hostile clients at the carriers' media sockets: clients without a token, and clients with a valid token. */
import { WebSocket } from 'ws'
import { until } from './machine.ts'
import { type Placed, startWithCarrier } from './server-with-carrier.ts'

const { carrier, parley, hostile, sql, port, placed } = await startWithCarrier()
const socketsAt = `ws://127.0.0.1:${port}`

const start = {
  event: 'start',
  stream_id: 'stream-1',
  start: { media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 } },
}

/** A media socket that the test controls. */
class Stream {
  readonly socket: WebSocket
  /** The code with which the server closed the socket. Null while the socket is open. */
  closed: number | null = null
  /** The HTTP status, if the upgrade was refused. */
  refused: number | null = null
  frames = 0

  constructor(path: string) {
    this.socket = new WebSocket(socketsAt + path)
    this.socket.on('error', () => {})
    this.socket.on('unexpected-response', (request, response) => {
      this.refused = response.statusCode ?? 0
      request.destroy()
    })
    this.socket.on('message', () => (this.frames += 1))
    this.socket.on('close', (code) => (this.closed = code))
  }

  async settled(): Promise<number | 'open'> {
    await until(
      'the socket has an answer',
      () => this.refused !== null || this.socket.readyState !== WebSocket.CONNECTING,
    )
    return this.refused ?? 'open'
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame))
  }

  async ended(): Promise<number | null> {
    await until('the socket has closed', () => this.closed !== null)
    return this.closed
  }
}

const rowOf = async (id: string) => {
  const [row] = await sql<{ status: string; end_reason: string | null; over: boolean }[]>`
    select status, end_reason, ended_at is not null as over from calls where id = ${id}`
  return row
}

const answered = (id: string) => until('it is answered', async () => (await rowOf(id))?.status === 'in_progress')

async function streaming(): Promise<Placed & { stream: Stream }> {
  const call = await placed()
  const stream = new Stream(call.leg.streamPath)
  if ((await stream.settled()) !== 'open') throw new Error(`the stream was refused ${stream.refused}`)
  stream.send(start)
  await answered(call.id)
  return { ...call, stream }
}

/** Hangs up the remote party. Returns the call's end reason. */
async function leave({ id, leg }: Placed, stream?: Stream): Promise<string | null> {
  stream?.send({ event: 'stop' })
  await carrier.hangUp(leg, parley.url)
  await until('the call has ended', async () => (await rowOf(id))?.over === true)
  return (await rowOf(id))?.end_reason ?? null
}

hostile('sockets without a token, with a guessed token, or with the token of another leg are refused', async (t) => {
  const [own, other] = [await placed(), await placed()]
  const [path = '', token = ''] = own.leg.streamPath.split('?token=')
  const owner = token.split('.')[0] ?? ''
  const guessed = `${owner}.${'A'.repeat(32)}`
  for (const [query, status] of [
    ['', 401],
    ['?token=', 401],
    [`?token=${guessed}`, 401],
    [`?token=${other.leg.streamPath.split('?token=')[1]}`, 401],
    [`?token=..%2F${guessed}`, 401],
    [`?token=${'x'.repeat(64)}.${'A'.repeat(32)}`, 503],
    [`?token=${'x'.repeat(8000)}`, 401],
  ] as const)
    t.equal(await new Stream(path + query).settled(), status, query.slice(0, 60))
  const open = () => new Stream(`${path}?token=${guessed}`).settled()
  const flood = await Promise.all(Array.from({ length: 500 }, open))
  t.same([...new Set(flood)], [401])
  const stream = new Stream(own.leg.streamPath)
  t.equal(await stream.settled(), 'open', 'the true one is still good')
  await leave(own, stream)
  const last = new Stream(other.leg.streamPath)
  await last.settled()
  await leave(other, last)
})

hostile('if 50 sockets open at once with the same token, one of them becomes the stream', async (t) => {
  const call = await placed()
  const streams = Array.from({ length: 50 }, () => new Stream(call.leg.streamPath))
  await Promise.all(streams.map((stream) => stream.settled()))
  const open = () => streams.filter(({ closed, refused }) => closed === null && refused === null)
  await until('all but one are over', () => open().length <= 1)
  t.equal(open().length, 1)
  open()[0]?.send(start)
  await answered(call.id)
  t.equal(await new Stream(call.leg.streamPath).settled(), 401, 'the token is spent')
  await leave(call, open()[0])
})

hostile('a stream with frames before its start frame and with an unknown encoding is closed', async (t) => {
  const call = await placed()
  const stream = new Stream(call.leg.streamPath)
  await stream.settled()
  stream.send({ event: 'media', media: { chunk: '1', payload: 'AAAA' } })
  stream.send({ event: 'dtmf', dtmf: { digit: '#' } })
  stream.send({ event: 'mark', mark: { name: '1' } })
  stream.send({ event: 'start', stream_id: 'x', start: { media_format: { encoding: 'OPUS', sample_rate: 48_000 } } })
  t.equal(await stream.ended(), 1008)
  t.equal(await leave(call), 'carrier_error')
})

const media = (chunk: unknown, payload: unknown, more = {}) => ({ event: 'media', media: { chunk, payload, ...more } })
const texts = [
  '',
  '\0',
  'null',
  '[]',
  '['.repeat(200_000),
  `{"event":"media","media":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`,
  '{"event":"__proto__"}',
  '{"event":"constructor"}',
  '{"event":["media"]}',
  '{"event":"media","__proto__":{"a":1}}',
]
const frames = [
  ...['%%%%', 'A', 7, {}, 'A'.repeat(43_692), 'A'.repeat(43_693), 'A'.repeat(200_000)].map((payload) =>
    media('1', payload),
  ),
  ...['-1', 'NaN', '1e3', '', 0, 1.5, [], null, Number.MAX_SAFE_INTEGER, '9007199254740991', '9'.repeat(16)].map(
    (chunk) => media(chunk, 'AAAA'),
  ),
  media(7, 'AAAA', { timestamp: '-5', track: '__proto__' }),
  { event: 'mark', mark: { name: '99999999' } },
  { event: 'mark', mark: { name: 'x'.repeat(5000) } },
  { event: 'dtmf', dtmf: { digit: 'ZZ' } },
  { event: 'error', payload: { code: {} } },
  start,
  { ...start, stream_id: 'x'.repeat(5000) },
]

hostile('malformed frames do not end a stream', async (t) => {
  const { stream, ...call } = await streaming()
  for (const text of texts) stream.socket.send(text)
  for (const frame of frames) stream.send(frame)
  stream.socket.send(Buffer.alloc(1000))
  stream.send({ event: 'dtmf', dtmf: { digit: '#' } })
  await until('the agent answers the key', () => stream.frames > 0 || stream.closed !== null)
  t.equal(stream.closed, null)
  await leave(call, stream)
})

hostile('a frame that is too large ends the stream', async (t) => {
  const { stream, ...call } = await streaming()
  stream.socket.send('x'.repeat(300_000))
  t.equal(await stream.ended(), 1006)
  await leave(call)
})

/** Sends many frames, and waits whenever the server reads more slowly than they are sent. */
async function flood(stream: Stream, count: number, frame: (at: number) => object): Promise<void> {
  for (let at = 0; at < count && stream.closed === null; at++) {
    stream.send(frame(at))
    if (stream.socket.bufferedAmount < 1_000_000) continue
    await until('it is read', () => stream.socket.bufferedAmount < 100_000 || stream.closed !== null)
  }
}

hostile('a flood of audio whose numbers and times go backwards does not harm the server', async () => {
  const { stream, ...call } = await streaming()
  const payload = Buffer.alloc(32_768, 0x55).toString('base64')
  await flood(stream, 1500, (at) => media(String(5_000_000 - at * 1000), payload, { timestamp: String(-at) }))
  await leave(call, stream)
})

hostile('a flood of pressed keys makes few turns', async (t) => {
  const { stream, ...call } = await streaming()
  const startedMs = performance.now()
  await flood(stream, 20_000, (at) => ({ event: 'dtmf', dtmf: { digit: at % 2 === 0 ? '5' : '#' } }))
  await leave(call, stream)
  const spans = Math.ceil((performance.now() - startedMs) / 10_000)
  const [row] = await sql<{ turns: number }[]>`
    select count(*)::int as turns from call_turns where call_id = ${call.id} and source = 'user'`
  const turns = row?.turns ?? 0
  t.ok(turns > 0 && turns <= 20 * (spans + 1), `${turns} turns`)
})
