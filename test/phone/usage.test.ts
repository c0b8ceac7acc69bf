/**
 * For a browser session and for a phone call, the usage equals the call report's costs for each of speech to text, LLM,
 * text to speech and carrier.
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { call } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import { metric } from '../process/metrics.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { Page } from '../session/voice-session.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const price = (unit: string, microUsd: number) => ({ model: '*', unit, microUsd, asOf: '2026-11' })
const chat = { adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'platform', models: { llm: ['chat'] } }
const adminPort = await freePort()
const phones = await startPhones({
  PARLEY_ADMIN_PORT: String(adminPort),
  PARLEY_PROVIDERS: JSON.stringify([
    { id: 'local', adapter: 'local', prices: [price('audio_hour', 36_007), price('million_characters', 15_000_001)] },
    {
      ...{ ...chat, id: 'priced' },
      prices: [price('million_input_tokens', 150_000.5), price('million_output_tokens', 7_654_321)],
    },
    { ...chat, id: 'unknown' },
  ]),
  PARLEY_CARRIER_PRICES: JSON.stringify([{ direction: 'outbound', prefix: '+1500555', microUsdPerMinute: 7_001 }]),
})
t.teardown(() => phones.close())

type Line = { provider: string; stage: string; metric: string; quantity: number; costMicroUsd: string | null }
type Ended = PhoneCallRow & {
  report: { cost_micro_usd: string; cost_complete: boolean; cost_breakdown: Line[]; analysis_status: string }
}
type Row = { provider: string; stage: string; costMicroUsd: string | null; quantities: Record<string, number> }
type Usage = { rows: (Row & { agentId: string | null })[]; total: Row & { unpriced: number } }

const agentWith = async (name: string, model: string) => {
  const wanted = { name, systemPrompt: 'Be brief.', intent: { language: 'en-US' }, llmOptions: { model } }
  const made = await call(phones, 'POST', '/v1/agents', { ...wanted, firstMessageMode: 'listen' })
  if (made.status !== 201) throw new Error(made.text)
  return made.json<{ id: string }>().id
}

/** Returns the costs in the complete call report. */
async function reported(id: string): Promise<Ended['report']> {
  const isRead = (row: PhoneCallRow) => hasEnded(row) && (row as Ended).report.analysis_status !== 'pending'
  return ((await callWhen(phones, id, isRead)) as Ended).report
}

async function usageOf(agentId: string): Promise<Row[]> {
  const usage = (await call(phones, 'GET', '/v1/usage?groupBy=agent,provider,stage')).json<Usage>()
  return usage.rows.filter((row) => row.agentId === agentId)
}

/** Converts cost lines of the call report to usage rows. An unknown cost leaves a row's known cost unchanged. */
function rowsOf(lines: readonly Line[]): Row[] {
  const rows = new Map<string, Row>()
  for (const { provider, stage, metric, quantity, costMicroUsd } of lines) {
    const key = `${provider}\n${stage}`
    const row = rows.get(key) ?? { provider, stage, costMicroUsd: null, quantities: {} }
    row.quantities[metric] = (row.quantities[metric] ?? 0) + quantity
    if (costMicroUsd !== null) row.costMicroUsd = String(Number(row.costMicroUsd ?? 0) + Number(costMicroUsd))
    rows.set(key, row)
  }
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

/**
 * Drops rows without quantities: a request that ended before a provider did anything costs 0 and has no line in the
 * call report.
 */
const withQuantities = (rows: readonly Row[]) =>
  rows
    .filter(({ quantities }) => Object.keys(quantities).length > 0)
    .map(({ provider, stage, costMicroUsd, quantities }) => ({ provider, stage, costMicroUsd, quantities }))

/**
 * Compares an agent's usage with its only call's costs once both are complete, because a ledger row is written after
 * its request.
 */
async function compare(t: Test, agentId: string, callId: string, stages: readonly string[]): Promise<Row[]> {
  const isComplete = (rows: readonly Row[]) => stages.every((wanted) => rows.some(({ stage }) => stage === wanted))
  let [report, rows] = [await reported(callId), withQuantities(await usageOf(agentId))]
  const agrees = async () => {
    ;[report, rows] = [await reported(callId), withQuantities(await usageOf(agentId))]
    return isComplete(rows) && isDeepStrictEqual(rows, rowsOf(report.cost_breakdown))
  }
  // If the usage and the call report never agree, the comparison below shows the difference.
  await phones.clock.until('usage that agrees with the report', agrees).catch(() => {})
  t.same(rows, rowsOf(report.cost_breakdown))
  t.same([...new Set(rows.map(({ stage }) => stage))].sort(), stages)
  const isUnknown = report.cost_breakdown.some(({ costMicroUsd }) => costMicroUsd === null)
  const sum = rows.reduce((all, { costMicroUsd }) => all + Number(costMicroUsd), 0)
  t.equal(report.cost_micro_usd, String(sum))
  t.equal(report.cost_complete, !isUnknown)
  return rows
}

const answered = (page: Page) =>
  phones.clock.until('an answer', () =>
    page.all('agent_message').some(({ isFinal, text }) => isFinal === true && text === 'Hello from the stub.'),
  )

t.test('getUsage of a browser session equals the sum of the costs in its report', async (t) => {
  for (const model of ['priced:chat', 'unknown:chat']) {
    const agentId = await agentWith(`on a page, ${model}`, model)
    const page = await Page.join(phones, { agentId, intent: undefined, constraints: undefined })
    // The stub gives two answers: one in the conversation, and one for the call's analysis.
    stub.behave({ kind: 'ok' }, { kind: 'agent' })
    page.send({ type: 'user_message', text: 'When are you open?' })
    await answered(page)
    page.send({ type: 'end' })
    await page.first('end')
    const rows = await compare(t, agentId, page.id, ['llm', 'tts'])
    const llm = rows.find(({ stage }) => stage === 'llm')
    if (model === 'unknown:chat') t.equal(llm?.costMicroUsd, null, 'an unknown price is not 0')
    else t.ok(Number(llm?.costMicroUsd) > 0)
  }
})

t.test('getUsage of a phone call equals the sum of the costs in its report', async (t) => {
  for (const [model, isFree] of [
    ['priced:chat', false],
    ['local:scripted', true],
  ] as const) {
    const agentId = await agentWith(`on the phone, ${model}`, model)
    const answer = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550006', agentId })
    const { sessionId } = answer.json<{ sessionId: string }>()
    const isAnswered = ({ transcript }: PhoneCallRow) =>
      transcript.entries.filter(({ source }) => source === 'agent').length > 1
    await callWhen(phones, sessionId, isAnswered)
    t.equal((await call(phones, 'POST', `/v1/calls/${sessionId}/end`)).status, 200)
    const rows = await compare(t, agentId, sessionId, ['carrier', 'llm', 'stt', 'tts'])
    for (const { stage, costMicroUsd } of rows) t.equal(Number(costMicroUsd) > 0, !(isFree && stage === 'llm'), stage)
  }
})

t.test('the metrics of the carrier have the same seconds and cost as getUsage', async (t) => {
  const usage = (await call(phones, 'GET', '/v1/usage?groupBy=stage')).json<Usage>()
  const carrier = usage.rows.find(({ stage }) => stage === 'carrier')
  const counted = (name: string) => metric(adminPort, name, 'line="simulator",direction="outbound"')
  t.ok(Number(carrier?.costMicroUsd) > 0)
  t.equal(await counted('parley_carrier_seconds_total'), carrier?.quantities['carrier_seconds'])
  t.equal(await counted('parley_carrier_cost_usd_total'), Number(carrier?.costMicroUsd) / 1e6)
  t.equal(await metric(adminPort, 'parley_carrier_seconds_total', 'line="trunk"'), 0)
})
