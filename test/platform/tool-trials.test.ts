/** Tests testAgentTool over the public API: the request as it is sent, its outcomes, and its limit. */
import t from 'tap'
import type { Target } from '../router/requests.ts'
import { type Answer, ok, startReceiver } from '../webhooks/receiver.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })

type Trial = {
  ok: boolean
  httpStatus: number | null
  result: string | null
  error: object | null
  request: { url: string; headers: Record<string, string>; body: string }
}

async function toolAt(target: Target, name: string, source: object): Promise<string> {
  const agent = { name: `Agent of ${name}`, systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const { id } = (await call(target, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const made = await call(target, 'POST', `/v1/agents/${id}/tools`, { name, description: 'x', source })
  if (made.status !== 201) throw new Error(made.text)
  return `/v1/agents/${id}/tools/${made.json<{ id: string }>().id}/test`
}

async function answering(t: Tap, answer: Answer) {
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  return receiver
}
type Tap = { teardown(run: () => Promise<void>): void }

t.test('testAgentTool sends one request like that of a call, and shows it without secret values', async (t) => {
  const acme = await admin.organization('trying')
  const receiver = await answering(t, (response) => response.writeHead(200).end('{"status":"ready"}'))
  const authHeaders = [{ name: 'X-Key', value: 'k4n4ry' }]
  const source = { kind: 'webhook', url: receiver.url, headers: { 'x-shop': 'main' }, authHeaders }
  const path = await toolAt(acme, 'find_order', source)
  const answer = await call(acme, 'POST', path, { args: { number: '1042' } })
  t.equal(answer.status, 200, answer.text)
  const trial = answer.json<Trial>()
  t.match(trial, { ok: true, httpStatus: 200, result: '{"status":"ready"}', error: null, attempts: 1 })
  t.equal(receiver.received.length, 1)
  const [received] = receiver.received
  t.equal(received?.body.toString(), trial.request.body, 'to the byte')
  const sent = JSON.parse(trial.request.body) as Record<string, unknown>
  t.match(sent, { tool: 'find_order', args: { number: '1042' }, session_id: null, call_id: null, test: true })
  t.match(sent['idempotency_key'], /^test:[0-9a-f-]{36}$/)
  t.equal(received?.headers['x-key'], 'k4n4ry')
  t.equal(received?.headers['webhook-id'], sent['idempotency_key'])
  t.match(trial.request, { url: receiver.url, headers: { 'X-Key': '***', 'x-shop': 'main' } })
  t.notMatch(answer.text, /k4n4ry/)
  t.match((await call(acme, 'POST', path)).json<Trial>(), { ok: true }, 'a body is optional')
  t.match(receiver.received[1]?.body.toString(), /"args":\{\}/)
})

t.test('testAgentTool shows how a tool has failed, and does not repeat the request', async (t) => {
  const acme = await admin.organization('failing')
  const failing = await answering(t, (response) => response.writeHead(503).end('No stock.'))
  const trial = async (name: string, source: object) =>
    (await call(acme, 'POST', await toolAt(acme, name, { kind: 'webhook', ...source }))).json<Trial>()
  const error = { code: 'http_error', status: 503, detail: 'No stock.' }
  t.match(await trial('http', { url: failing.url }), { ok: false, httpStatus: 503, result: null, error })
  t.equal(failing.received.length, 1)
  const closed = await startReceiver()
  await closed.close()
  const nothing = { status: null, detail: null }
  t.match(await trial('closed', { url: closed.url }), { httpStatus: null, error: { code: 'unreachable', ...nothing } })
  const silent = await answering(t, () => {})
  t.match(await trial('silent', { url: silent.url, timeoutMs: 1000 }), { error: { code: 'timeout', ...nothing } })
  const long = await answering(t, (response) => response.end('x'.repeat(20_000)))
  t.equal((await trial('long', { url: long.url })).result?.length, 16_384)
})

t.test('testAgentTool refuses other kinds of tools, long arguments, and more than 30 trials a minute', async (t) => {
  const acme = await admin.organization('refusing')
  const builtin = await toolAt(acme, 'hang_up', { kind: 'builtin', name: 'end_call' })
  t.same(faultOf(await call(acme, 'POST', builtin)), { status: 400, code: 'VALIDATION_ERROR', paths: ['/toolId'] })
  const receiver = await answering(t, ok)
  const path = await toolAt(acme, 'find_order', { kind: 'webhook', url: receiver.url })
  const long = await call(acme, 'POST', path, { args: { text: 'x'.repeat(16_384) } })
  t.same(faultOf(long), { status: 400, code: 'VALIDATION_ERROR', paths: ['/args'] })
  for (let trials = 0; trials < 30; trials++) t.equal((await call(acme, 'POST', path)).status, 200)
  const refused = await call(acme, 'POST', path)
  t.same(faultOf(refused), { status: 429, code: 'RATE_LIMITED' })
  const waitS = Number(refused.headers.get('retry-after'))
  t.ok(waitS > 1 && waitS <= 60, `Retry-After is ${waitS}`)
  t.equal(receiver.received.length, 30)
  const beta = await admin.organization('beside')
  const other = await toolAt(beta, 'find_order', { kind: 'webhook', url: receiver.url })
  t.equal((await call(beta, 'POST', other)).status, 200, 'another organization is not limited')
})
