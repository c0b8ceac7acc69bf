/** Calls, transfers and offered numbers in the form for the hosted product's published SDKs (`clients: family`). */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { call } from '../platform/setup.ts'
import { holding, startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { serverWith } from '../server.ts'
import { type Frame, Page } from '../session/voice-session.ts'
import { hasEnded } from './call-rows.ts'
import { settingsOf } from './outside-carrier.ts'
import { callWhen, startPhones } from './phones.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const unpriced = { id: 'unknown', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'x', models: { llm: ['chat'] } }
const phones = await startPhones({
  PARLEY_CLIENTS: 'family',
  // Without this prefix the test's page would not know the subprotocol.
  PARLEY_HEADER_PREFIX: 'Service',
  PARLEY_PROVIDERS: JSON.stringify([{ id: 'local', adapter: 'local' }, unpriced]),
})
t.teardown(() => phones.close())

type Line = { provider: string; metric: string; costMicroUsd: string }
type Report = { analysis_status: string; cost_micro_usd: string; cost_complete: boolean; cost_breakdown: Line[] }

/** The person at this number answers and does not hang up. */
const talks = '+15005550006'

async function dial(body: object): Promise<string> {
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to: talks, ...body })
  if (started.status !== 200) throw new Error(started.text)
  return started.json<{ sessionId: string }>().sessionId
}

t.test("with `clients: family` (hosted product's API) no pending report and no unknown cost is shown", async (t) => {
  const wanted = { name: 'Unpriced', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }
  const agent = { ...wanted, firstMessage: 'Hello.', llmOptions: { model: 'unknown:chat' } }
  const { id: agentId } = (await call(phones, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const page = await Page.join(phones, { agentId, intent: undefined, constraints: undefined })
  const { id } = page
  // The stub gives two answers: one in the conversation, and one for the call's analysis.
  const { behaviour, release } = holding()
  stub.behave({ kind: 'ok' }, behaviour)
  page.send({ type: 'user_message', text: 'When are you open?' })
  const isAnswer = ({ isFinal, text }: Frame) => isFinal === true && text === stubText
  await phones.clock.until('an answer', () => page.all('agent_message').some(isAnswer))
  page.send({ type: 'end' })
  await page.first('end')
  const ended = await callWhen(phones, id, (row) => row.ended_at !== null)
  t.equal(ended.report, null, 'its analysis waits for the LLM')
  const early = await call(phones, 'GET', `/v1/calls/${id}/report`)
  t.match([early.status, early.json()], [404, { code: 'REPORT_NOT_AVAILABLE' }])
  release()
  const row = await callWhen(phones, id, hasEnded)
  const report = (await call(phones, 'GET', `/v1/calls/${id}/report`)).json<Report>()
  t.same(row.report, report)
  const ofUnknown = report.cost_breakdown.filter(({ provider }) => provider === 'unknown')
  t.ok(ofUnknown.length > 0)
  for (const { metric, costMicroUsd } of ofUnknown) t.equal(costMicroUsd, '0', metric)
  t.equal(report.cost_complete, false)
})

t.test("with `clients: family` (the hosted product's API) a fallback without a message has an empty one", async (t) => {
  const id = await dial({ agentId: phones.agentId })
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  const path = `/v1/calls/${id}/transfers`
  type Progress = { id: string; status: string; fallback: { action: string; message: string } | null }
  const refused = await call(phones, 'POST', `${path}/warm`, { to: '+15005550001' })
  const { status, fallback } = refused.json<Progress>()
  t.same([refused.status, status], [201, 'failed'], refused.text)
  t.match(fallback, { action: 'return_to_assistant', message: '' })
  await callWhen(phones, id, (row) => row.status === 'in_progress')
  const rings = (await call(phones, 'POST', `${path}/warm`, { to: '+15005550002' })).json<Progress>()
  t.equal(rings.fallback, null, 'the transfer goes on')
  const cancelled = (await call(phones, 'POST', `${path}/${rings.id}/cancel`, {})).json<Progress>()
  t.match(cancelled, { status: 'cancelled', fallback: { action: 'return_to_assistant', message: '' } })
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
})

t.test("with `clients: family` (the hosted product's API) a search omits numbers without a price", async (t) => {
  const offer = (phone_number: string, cost_information: object) => ({ phone_number, cost_information })
  const priced = { upfront_cost: '1.00', monthly_cost: '0.50', currency: 'USD' }
  const data = [offer('+12125550171', {}), offer('+12125550172', priced)]
  const carrier = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => carrier.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    carrier.closeAllConnections()
    return new Promise((resolve) => carrier.close(resolve))
  })
  const baseUrl = `http://127.0.0.1:${(carrier.address() as AddressInfo).port}/v2`
  const outside = settingsOf({ apiKey: 'KEY', baseUrl, publicKey: `${'A'.repeat(43)}=` }, 0)
  const offersOf = async (settings: Record<string, string>) => {
    const server = await serverWith({ ...outside, PARLEY_PUBLIC_URL: 'https://voice.example.com', ...settings })
    const answer = await call(server, 'GET', '/v1/phone-numbers/available')
    return answer
      .json<{ e164: string; monthlyCostUsd: number | null }[]>()
      .map(({ e164, monthlyCostUsd: usd }) => [e164, usd])
  }
  t.same(await offersOf({ PARLEY_CLIENTS: 'family' }), [['+12125550172', 0.5]])
  t.same(await offersOf({}), [
    ['+12125550171', null],
    ['+12125550172', 0.5],
  ])
})
