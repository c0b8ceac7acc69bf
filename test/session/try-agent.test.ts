/** Tests the routes for the page /try/agent: which clients may use them, and the sessions that they start. */
import t, { type Test } from 'tap'
import type { Turn } from '../../domain/records/call.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { judgedFetch } from '../oracle.ts'
import { serveAgentPage } from './agent-page.ts'
import { RecordingSink, sessionId } from './media-harness.ts'

const serve = (t: Test) => serveAgentPage(t, (transport) => new RecordingSink(transport))
type Headers = Record<string, string>

async function post(url: string, body: unknown, headers: Headers = { origin: url }) {
  const answer = await judgedFetch(`${url}/try/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const { error, ...rest } = (await answer.json()) as { error?: { code: string; message: string } }
  return { status: answer.status, error, ...rest }
}

t.test('createTrySession accepts an agent or a prompt', async (t) => {
  const { url, wanted } = await serve(t)
  t.match(await post(url, { agentId: 'agent_1' }), {
    status: 201,
    sessionId,
    transportToken: /^v1\./,
    transportUrl: `${url.replace('http', 'ws')}/v1/sessions/${sessionId}/media`,
  })
  const spoken = { language: 'de', voice: 'de-DE' }
  await post(url, { systemPrompt: 'Be brief.', firstMessage: 'Hello', model: 'acme/chat', ...spoken })
  t.same(wanted, [
    { agentId: 'agent_1' },
    {
      ...{ systemPrompt: 'Be brief.', firstMessage: 'Hello', intent: { language: 'de' }, voice: 'de-DE' },
      llm: { model: 'acme/chat' },
    },
  ])
})

t.test('createTrySession accepts requests only from a page of this server', async (t) => {
  const { url, wanted } = await serve(t)
  for (const origin of ['https://evil.example', 'null', url.replace('127.0.0.1', 'localhost')])
    t.match(await post(url, {}, { origin }), { status: 403, error: { code: 'origin_not_allowed' } }, origin)
  t.equal((await post(url, {}, {})).status, 403)
  t.equal((await post(url, {}, { origin: url, 'x-forwarded-for': '203.0.113.9' })).status, 404)
  t.match(await post(url, { tools: [] }), { status: 400, error: { message: /tools is not a known field/ } })
  t.match(await post(url, { language: 'not a tag' }), { status: 400 })
  t.same(wanted, [])
})

t.test('createTrySession answers with the same errors as createSession', async (t) => {
  const served = await serve(t)
  for (const [fault, status, code] of [
    [new ResourceFault({ kind: 'not_found' }), 404, 'not_found'],
    [
      new ResourceFault({ kind: 'invalid', issues: [{ path: ['voice'], problem: { kind: 'repeated' } }] }),
      400,
      'invalid_parameter',
    ],
    [new Fault({ kind: 'credit_too_low' }), 402, 'insufficient_credit'],
    [new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 }), 429, 'concurrency_exhausted'],
    [new Fault({ kind: 'no_provider', stage: 'llm' }), 503, 'provider_unavailable'],
  ] as const) {
    served.fail(fault)
    t.match(await post(served.url, {}), { status, error: { code } })
  }
})

t.test('listTryAgents and listTryTurns list the agents and the turns for the page', async (t) => {
  const served = await serve(t)
  const { url } = served
  t.same(await (await judgedFetch(`${url}/try/agents`)).json(), [
    { id: 'agent_1', name: 'Front desk', systemPrompt: 'Be brief.', firstMessage: null, language: 'en', model: null },
  ])
  const turn = { index: 0, source: 'agent', text: 'secret', startedAtMs: 0, endedAtMs: 0, toolCalls: [], metadata: {} }
  const latency = { eouMs: 1.5, llmTtftMs: 2, ttsTtfbMs: null, conversationalLatencyMs: 9, latencyStatus: 'partial' }
  const shown = { id: 'turn_1', provider: 'local', model: 'scripted', ...latency }
  served.turns.push({ ...turn, ...shown, playedText: '' } as Turn)
  const turns = `${url}/try/sessions/${sessionId}/turns`
  t.same(await (await judgedFetch(turns)).json(), [{ ...shown, source: 'agent' }])
  for (const path of ['/try/agents', `/try/sessions/${sessionId}/turns`, '/try/agent'])
    t.equal((await judgedFetch(url + path, { headers: { 'x-forwarded-for': '203.0.113.9' } })).status, 404, path)
  const page = await judgedFetch(`${url}/try/agent`)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'/)
  t.match(await page.text(), 'data-key="local"')
})
