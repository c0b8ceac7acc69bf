/** Webhook tools against real HTTP servers on this machine. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t from 'tap'
import type { ToolResult } from '../../domain/conversation/parts/deps.ts'
import type { Call } from '../../domain/records/call.ts'
import type { PipelineTool } from '../../domain/records/pipeline.ts'
import type { ToolSecrets, WebhookSource } from '../../domain/records/tool.ts'
import { createRunTool } from '../../domain/tools/run-tool.ts'
import type { WebhookError } from '../../domain/webhooks/client.ts'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { createWebhookClient } from '../../providers/wire/webhook-client.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { valueFaults as faultsOfOwner } from '../../runtime/values/json-value.ts'

type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string }
type Answer = (received: Received, response: ServerResponse, count: number) => void

const call = {
  id: '018f0000-0000-7000-8000-000000000001',
  organizationId: 'org_1',
  agentId: 'agent_1',
  test: false,
  metadata: { order: 7 },
} as unknown as Call

async function serve(t: Tap, answer: Answer): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      received.push({ method, path: url, headers, body })
      answer(received.at(-1)!, response, received.length)
    })
  })
  return { url: await listen(t, server), received }
}

type Tap = { teardown: (run: () => unknown) => unknown }

async function listen(t: Tap, server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`
}

function toolAt(url: string, source: Partial<WebhookSource> = {}): PipelineTool {
  return {
    name: 'get_order',
    description: 'Finds an order.',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    source: {
      kind: 'webhook',
      url,
      hasSecret: false,
      headers: null,
      authHeaders: null,
      timeoutMs: 2000,
      responseMode: null,
      asyncAck: null,
      ...source,
    },
    preToolSpeech: 'auto',
  }
}

const valueFaults = (schema: object, value: unknown) => faultsOfOwner(schema, value, call.organizationId)

function runner(t: Tap, secrets?: ToolSecrets, allowedSubnets = ['127.0.0.0/8']) {
  const client = createWebhookClient({ guard: { allowedSubnets }, clock: systemClock })
  t.teardown(() => client.close())
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  return createRunTool({
    client,
    clock: systemClock,
    log,
    valueFaults,
    isPhoneNumber: () => true,
    transfer: () => Promise.resolve({ result: 'done' }),
    secretsOf: () => secrets,
    workspaceSecrets: (organizationId) => Promise.resolve([`new secret of ${organizationId}`, 'the one before']),
  })
}

async function run(t: Tap, tool: PipelineTool, secrets?: ToolSecrets) {
  return outcomeOf(await runner(t, secrets).webhook(call, { callId: 'call_1', tool, args: { id: 'x1' } }))
}

const outcomeOf = (tool: ToolResult) => ('failure' in tool ? { failure: tool.failure } : { result: tool.result })

t.test('the result of a webhook tool has the last HTTP status and the number of requests', async (t) => {
  const factsOf = async (url: string) => {
    const request = { callId: 'call_1', tool: toolAt(url, { timeoutMs: 500 }), args: {} }
    const { httpStatus, attempts } = await runner(t).webhook(call, request)
    return { httpStatus, attempts }
  }
  const good = await serve(t, (_, response) => response.end('ok'))
  t.same(await factsOf(good.url), { httpStatus: 200, attempts: 1 })
  const absent = await serve(t, (_, response) => response.writeHead(404).end())
  t.same(await factsOf(absent.url), { httpStatus: 404, attempts: 1 })
  const later = await serve(t, (_, response, count) => response.writeHead(count === 1 ? 503 : 201).end())
  t.same(await factsOf(later.url), { httpStatus: 201, attempts: 2 })
  const busy = await serve(t, (_, response) => response.writeHead(503).end())
  t.same(await factsOf(busy.url), { httpStatus: 503, attempts: 2 })
  const silent = await serve(t, () => {})
  t.same(await factsOf(silent.url), { httpStatus: undefined, attempts: 1 })
})

t.test('the request to a tool has its fields, headers and signature', async (t) => {
  const { url, received } = await serve(t, (_, response) => response.end('{"state": "sent"}'))
  const secrets = { secret: 'a secret text', authHeaders: { authorization: 'Bearer t0p' } }
  const tool = toolAt(url, { headers: { 'X-Shop': 'one' }, authHeaders: ['Authorization'], hasSecret: true })
  t.same(await run(t, tool, secrets), { result: '{"state": "sent"}' })
  const [{ method, path, headers, body }] = received as [Received]
  t.equal(`${method} ${path}`, 'POST /hook?a=b')
  t.same(JSON.parse(body), {
    tool: 'get_order',
    args: { id: 'x1' },
    session_id: call.id,
    call_id: call.id,
    agent_id: 'agent_1',
    tool_call_id: 'call_1',
    idempotency_key: `${call.id}:call_1`,
    metadata: { order: 7 },
  })
  t.match(headers, { 'content-type': 'application/json', 'x-shop': 'one', authorization: 'Bearer t0p' })
  t.equal(headers['webhook-id'], `${call.id}:call_1`)
  const timestamp = String(headers['webhook-timestamp'])
  t.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 5)
  const hash = createHmac('sha256', 'a secret text').update(`${call.id}:call_1.${timestamp}.${body}`).digest('base64')
  t.equal(headers['webhook-signature'], `v1,${hash}`)
})

t.test("if a tool has no secret, the organization's secret signs the request, and a test call is marked", async (t) => {
  const { url, received } = await serve(t, (_, response) => response.end())
  const request = { callId: 'call_2', tool: toolAt(url), args: {} }
  t.same(outcomeOf(await runner(t).webhook({ ...call, test: true }, request)), { result: '' })
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = received[0]!.headers
  t.equal(id, `${call.id}:call_2`)
  const content = `${String(id)}.${String(timestamp)}.${received[0]!.body}`
  const signed = (secret: string) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`
  t.equal(signature, `${signed('new secret of org_1')} ${signed('the one before')}`)
  t.equal((JSON.parse(received[0]!.body) as { test: boolean }).test, true)
})

t.test('the signature of a tool request conforms to Standard Webhooks', (t) => {
  // The example from the Standard Webhooks libraries.
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', nowMs: 1_614_265_330_000, body: '{"test": 2432232314}' }
  t.equal(
    webhookHeaders(message, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])['webhook-signature'],
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
  const short = webhookHeaders(message, ['whsec_c2hvcnQ='])['webhook-signature']
  const asText = createHmac('sha256', 'whsec_c2hvcnQ=')
    .update(`${message.id}.1614265330.${message.body}`)
    .digest('base64')
  t.equal(short, `v1,${asText}`, 'a key that is too short for the standard is a text')
  const content = `${message.id}.1614265330.${message.body}`
  const signed = (key: string | Buffer) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  const bytes = (length: number) => Buffer.alloc(length, 'k')
  const cases: [string, string | Buffer][] = [
    [`whsec_${bytes(24).toString('base64')}`, bytes(24)],
    [`whsec_${bytes(64).toString('base64')}`, bytes(64)],
    [`whsec_${bytes(64).toString('base64').replace(/=+$/, '')}`, bytes(64)],
    [`whsec_${bytes(23).toString('base64')}`, `whsec_${bytes(23).toString('base64')}`],
    [`whsec_${bytes(65).toString('base64')}`, `whsec_${bytes(65).toString('base64')}`],
    ['whsec_words-with-hyphens-are-no-base64-of-that-form', 'whsec_words-with-hyphens-are-no-base64-of-that-form'],
    ['whsec_nor is a sentence with forty characters', 'whsec_nor is a sentence with forty characters'],
    ['kéy with é', 'kéy with é'],
  ]
  for (const [secret, key] of cases)
    t.equal(webhookHeaders(message, [secret])['webhook-signature'], signed(key), secret)
  t.end()
})

t.test('a tool that answers 502, 503 or 504 is called once more with the same id', async (t) => {
  for (const status of [502, 503, 504]) {
    const { url, received } = await serve(t, (_, response, count) => {
      response.statusCode = count === 1 ? status : 200
      response.end('done')
    })
    t.same(await run(t, toolAt(url)), { result: 'done' })
    t.equal(received.length, 2)
    t.equal(received[0]!.headers['webhook-id'], received[1]!.headers['webhook-id'])
    t.equal(received[0]!.body, received[1]!.body)
  }
  const { url, received } = await serve(t, (_, response) => response.writeHead(503).end('busy'))
  t.same(await run(t, toolAt(url)), { failure: { code: 'http_error', status: 503, detail: 'busy' } })
  t.equal(received.length, 2)
})

t.test("a tool's 3xx, 4xx or 500 answer fails the call, without a retry or a followed redirect", async (t) => {
  for (const status of [301, 307, 400, 401, 404, 409, 429, 500]) {
    const { url, received } = await serve(t, (_, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end('é'.repeat(2000))
    })
    const detail = 'é'.repeat(1024)
    t.same(await run(t, toolAt(url)), { failure: { code: 'http_error', status, detail } })
    t.equal(received.length, 1)
  }
})

t.test('a tool server that refuses connections is tried twice and reported as unreachable', async (t) => {
  const server = createTcpServer()
  const url = await listen(t, server)
  await new Promise((resolve) => server.close(resolve))
  const startedMs = performance.now()
  t.same(await run(t, toolAt(url)), { failure: { code: 'unreachable' } })
  t.ok(performance.now() - startedMs >= 200)
})

t.test('a tool server that drops the connection counts as unreachable, and gets no second request', async (t) => {
  let connections = 0
  const url = await listen(
    t,
    createTcpServer((socket) => {
      connections++
      socket.once('data', () => socket.destroy())
    }),
  )
  t.same(await run(t, toolAt(url)), { failure: { code: 'unreachable' } })
  t.equal(connections, 1)
})

t.test('the time-out of a tool covers the headers, a slow body and both attempts together', async (t) => {
  const silent = await serve(t, () => {})
  const slow = await serve(t, (_, response) => {
    response.write('{')
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  })
  const retried = await serve(t, (_, response, count) => {
    if (count === 1) response.writeHead(503).end()
  })
  for (const { url } of [silent, slow, retried]) {
    const startedMs = performance.now()
    t.same(await run(t, toolAt(url, { timeoutMs: 500 })), { failure: { code: 'timeout' } })
    const spentMs = performance.now() - startedMs
    t.ok(spentMs >= 490 && spentMs < 1500, `${spentMs}`)
  }
})

t.test("at most 64 KiB of a tool's answer are read", async (t) => {
  const { url } = await serve(t, (received, response) => {
    const { args } = JSON.parse(received.body) as { args: { bytes: number } }
    response.end('x'.repeat(args.bytes))
  })
  const sizes = [65_536, 65_537, 5_000_000]
  const tools = runner(t)
  const results = []
  for (const bytes of sizes)
    results.push(outcomeOf(await tools.webhook(call, { callId: 'c', tool: toolAt(url), args: { bytes } })))
  t.same(results, [
    { result: 'x'.repeat(65_536) },
    { failure: { code: 'too_large' } },
    { failure: { code: 'too_large' } },
  ])
})

t.test('a tool at a private address is blocked unless the operator allows the address', async (t) => {
  const { url, received } = await serve(t, (_, response) => response.end('secret'))
  const blocked = runner(t, undefined, ['10.0.0.0/8'])
  for (const target of [
    url,
    url.replace('127.0.0.1', 'localhost'),
    'http://[::1]:1/',
    'http://169.254.169.254/latest/',
  ])
    t.match(await blocked.webhook(call, { callId: 'c', tool: toolAt(target), args: {} }), {
      failure: { code: 'blocked' },
    })
  t.equal(received.length, 0)
})

t.test('a tool over plain http reaches no public address, not even by a host name', async (t) => {
  const lookup = (_: string, __: object, done: (error: null, found: { address: string; family: number }[]) => void) =>
    done(null, [{ address: '203.0.114.7', family: 4 }])
  const client = createWebhookClient({ guard: { allowedSubnets: ['127.0.0.0/8'], lookup }, clock: systemClock })
  t.teardown(() => client.close())
  const { signal } = new AbortController()
  const failures = ['http://8.8.8.8/', 'http://shop.example/'].map((url) =>
    client
      .post({ url, headers: {}, body: '', signal, answerBytesMax: 1 })
      .catch((error: WebhookError) => error.failure),
  )
  t.same(await Promise.all(failures), ['blocked', 'blocked'])
})

t.test('a value that is invalid in a header does not crash the process', async (t) => {
  const { url, received } = await serve(t, (_, response) => response.end('ok'))
  const broken = toolAt(url, { headers: { 'x-a': 'b\r\nhost: other' } })
  t.same(await run(t, broken), { failure: { code: 'failed' } })
  t.equal(received.length, 0)
  const request = { callId: 'böse\n1', tool: toolAt(url), args: {} }
  t.match(await runner(t).webhook(call, request), { result: 'ok' })
  t.equal(received[0]!.headers['webhook-id'], `${call.id}:b_se_1`)
  t.equal((JSON.parse(received[0]!.body) as { idempotency_key: string }).idempotency_key, `${call.id}:b_se_1`)
})

t.test("NUL and invalid UTF-8 in a tool's answer do not reach the LLM", async (t) => {
  const { url } = await serve(t, (_, response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0x62])))
  t.same(await run(t, toolAt(url)), { result: 'a\ufffdb' })
})

t.test('tools work with more hosts than the connection cache holds, and with many simultaneous requests', async (t) => {
  const { url, received } = await serve(t, (_, response) => response.end('ok'))
  const tools = runner(t)
  const { port } = new URL(url)
  const targets = Array.from({ length: 80 }, (_, i) => `http://127.0.1.${i + 1}:${port}/`)
  await Promise.all(targets.map((target) => tools.webhook(call, { callId: 'c', tool: toolAt(target), args: {} })))
  const results = await Promise.all(
    Array.from({ length: 60 }, () => tools.webhook(call, { callId: 'c', tool: toolAt(url), args: {} })),
  )
  t.ok(results.every((result) => 'result' in result))
  t.equal(received.length, 60)
})
