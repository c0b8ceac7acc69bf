/** The generated client runs against a real server on loopback, which records requests and sends the test's answers. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import {
  createMiniClient,
  MiniApiError,
  type MiniClient,
  ProtocolError,
  StreamTruncatedError,
} from './golden/clients/mini.ts'

type Seen = { method: string; url: string; headers: IncomingHttpHeaders; body: string }
const headers = { 'content-type': 'application/json' }

async function serve(t: Test, answer: RequestListener) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1')
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      answer(request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mini/`
  return { seen, client: createMiniClient({ baseUrl, apiKey: 'sk_test_1', retriesMax: 0 }) }
}

async function streamOf(client: MiniClient) {
  const answer = await client.streamThing({ body: { stream: true } })
  if (answer.type !== 'text/event-stream') throw new Error('the answer is not a stream')
  return answer.body
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

t.test('the client sends path, query and API key as the contract says', async (t) => {
  const { client, seen } = await serve(t, (_request, response) => response.writeHead(200, headers).end('[]'))
  const answer = await client.listThings({ query: { limit: 5, tag: ['a', 'b&c'], archived: false } })
  t.same(answer.body, [])
  t.equal(answer.status, 200)
  t.equal(seen[0]?.url, '/mini/v1/things?limit=5&tag=a&tag=b%26c&archived=false')
  t.equal(seen[0]?.headers.authorization, 'Bearer sk_test_1')
  await client.getThing({ path: { id: 'a/b' } })
  t.equal(seen[1]?.url, '/mini/v1/things/a%2Fb')
  await client.getHealth()
  t.equal(seen[2]?.headers.authorization, undefined, 'an operation without a key is sent none')
})

t.test('a POST sends the Idempotency-Key that the calling code passed, or a new key', async (t) => {
  const { client, seen } = await serve(t, (_request, response) => response.writeHead(201, headers).end('{}'))
  const body = { name: 'ball', secret: 'hush', shape: { kind: 'circle', radius: 2 } } as const
  await client.createThing({ body, idempotencyKey: 'mine' })
  await client.createThing({ body })
  await client.createThing({ body })
  const keys = seen.map((request) => request.headers['idempotency-key'])
  t.equal(keys[0], 'mine')
  t.equal(new Set(keys).size, 3)
  t.same(JSON.parse(seen[0]?.body ?? ''), body)
})

t.test('multipart parts are sent in the order of the contract, not in the order of the object', async (t) => {
  const bytes = { 'content-type': 'application/octet-stream' }
  const { client, seen } = await serve(t, (_request, response) => response.writeHead(200, bytes).end('PCM'))
  const audio = new Uint8Array([82, 73, 70, 70])
  const answer = await client.uploadThing({ body: { audio, request: { name: 'root', branches: [] } } })
  t.equal(await new Response(answer.body).text(), 'PCM')
  t.match(seen[0]?.headers['content-type'], /^multipart\/form-data; boundary=/)
  t.match(
    seen[0]?.body,
    /name="request".*application\/json\r\n\r\n\{"name":"root","branches":\[\]\}.*name="audio".*octet-stream\r\n\r\nRIFF/s,
  )
})

t.test('an event stream is read to its terminal event, however its bytes are cut into chunks', async (t) => {
  const text =
    ': hello\r\n\r\nid: 0\r\nevent: thing.delta\r\ndata: {"text":"é"}\r\n\r\nevent: thing.completed\ndata: {"name":"root",\ndata: "branches":[]}\n\n'
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    const bytes = Buffer.from(text)
    const step = (at: number) => {
      if (at >= bytes.length) response.end()
      else response.write(bytes.subarray(at, at + 1), () => setImmediate(step, at + 1))
    }
    step(0)
  })
  t.same(await collect(await streamOf(client)), [
    { event: 'thing.delta', data: { text: 'é' } },
    { event: 'thing.completed', data: { name: 'root', branches: [] } },
  ])
})

t.test('a stream without a terminal event is an error, and a too long event is an error', async (t) => {
  const long = 'x'.repeat(16 * 1024 * 1024)
  const answers = ['event: thing.delta\ndata: {"text":"ro"}\n\n', `event: thing.delta\ndata: ${long}`]
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answers.shift())
  })
  const cut = { constructor: StreamTruncatedError, message: /ended before its last event/ }
  await t.rejects(collect(await streamOf(client)), cut)
  await t.rejects(collect(await streamOf(client)), { constructor: ProtocolError, message: /longer than 16777216/ })
})

t.test('a line of an event stream may end in CR alone, also at the end of the stream', async (t) => {
  const text = 'event: thing.completed\rdata: {"name":"root","branches":[]}\r\r'
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  })
  t.same(await collect(await streamOf(client)), [{ event: 'thing.completed', data: { name: 'root', branches: [] } }])
})

t.test('an event that is not JSON is an error', async (t) => {
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: thing.delta\ndata: {\n\n')
  })
  await t.rejects(collect(await streamOf(client)), { constructor: ProtocolError, message: 'An event is not JSON.' })
})

t.test('if the reader of a stream stops, the stream is closed', async (t) => {
  let closed: Promise<unknown> = Promise.resolve()
  const { client } = await serve(t, (_request, response) => {
    closed = once(response, 'close')
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write('event: thing.delta\ndata: {"text":"ro"}\n\n')
  })
  const answer = await streamOf(client)
  for await (const { event } of answer) {
    t.equal(event, 'thing.delta')
    break
  }
  await closed
})

t.test("a thrown error has the response's error body, or null if the body is not in the contract's form", async (t) => {
  const error = {
    code: 'broken',
    message: 'It broke.',
    hint: 'Send it again.',
    retryable: true,
    request_id: 'req_1',
    type: 'server_error',
  }
  const bodies = [JSON.stringify({ error }), '<h1>Bad gateway</h1>']
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(502, { 'retry-after': '3' }).end(bodies.shift())
  })
  const first: unknown = await client.listThings().catch((thrown: unknown) => thrown)
  t.ok(first instanceof MiniApiError)
  t.match(first, { status: 502, envelope: { error }, message: 'It broke. Send it again.' })
  t.match(first, { code: 'broken', retryable: true, requestId: 'req_1' })
  t.equal((first as MiniApiError).headers.get('retry-after'), '3')
  await t.rejects(client.listThings(), { name: 'MiniApiError', status: 502, envelope: null })
})
