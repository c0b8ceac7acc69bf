/**
 * The Grafana dashboard and the alerts use only emitted metrics and labels. The number of time series does not grow
 * with the organizations. `make test-all LANE=metrics` sends 100,000 requests.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { parse } from 'yaml'
import { startMetricsServer } from '../../runtime/telemetry/metrics-server.ts'
import { wavOf } from '../platform/spending.ts'
import { startAdministeredProgram } from '../process/administered.ts'
import { freePort } from '../process/machine.ts'
import { metric } from '../process/metrics.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { ask, postJson, responses, send, speech, type Target, transcribe } from '../router/requests.ts'
import { faultsOf, readEmitted, seriesOf } from './prometheus.ts'

const requestsMade = Number(process.env['PARLEY_TEST_REQUESTS'] ?? 400)
const atOnce = 16
const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const prices = [
  { model: 'chat', unit: 'million_input_tokens', microUsd: 1_000_000 },
  { model: 'chat', unit: 'million_output_tokens', microUsd: 2_000_000 },
].map((price) => ({ ...price, asOf: '2026-11' }))
const models = { llm: ['chat'], tts: ['speak'], stt: ['listen'] }
const adminPort = await freePort()
const { admin } = await startAdministeredProgram(t, {
  PARLEY_ADMIN_PORT: String(adminPort),
  PARLEY_PROVIDERS: JSON.stringify([
    { id: 'main', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'platform', models, prices },
    { id: 'unpaid', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'platform', models },
  ]),
})
const usage = { prompt_tokens: 1000, completion_tokens: 100 }
const pinned = (model: string) => ({ routing: { mode: 'explicit', model } })
const metricsText = async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
const llm = (target: Target, model = 'main/chat') => postJson(target, responses, ask('hello', pinned(model)))

t.test('the metrics count the tokens and the cost of requests', async (t) => {
  const acme = await admin.organization('acme')
  stub.behave({ kind: 'ok', usage })
  t.equal((await llm(acme)).status, 200)
  t.equal(await metric(adminPort, 'parley_tokens_total', 'kind="input"'), 1000)
  t.equal(await metric(adminPort, 'parley_tokens_total', 'kind="output"'), 100)
  t.equal(await metric(adminPort, 'parley_cost_usd_total', 'stage="llm",provider="main",model="chat"'), 0.0012)
  t.equal(await metric(adminPort, 'parley_unpriced_requests_total', 'model="chat"'), 0)

  const said = await postJson(acme, speech, { input: 'twelve chars', voice: 'alloy', ...pinned('main/speak') })
  t.equal(said.status, 200)
  t.equal(await metric(adminPort, 'parley_characters_total', 'model="speak"'), 12)
  t.equal(await metric(adminPort, 'parley_unpriced_requests_total', 'model="speak"'), 1, 'an unknown price is not 0')

  const transcript = await transcribe(acme, wavOf(1500), pinned('main/listen'))
  const { duration_ms: durationMs } = transcript.json<{ usage: { duration_ms: number } }>().usage
  t.equal(await metric(adminPort, 'parley_audio_seconds_total', 'model="listen"'), durationMs / 1000)

  const poor = await admin.organization('poor', { creditMicroUsd: 0 })
  t.equal((await llm(poor)).status, 402)
  t.equal(await metric(adminPort, 'parley_credit_refusals_total', 'stage="llm"'), 1)
})

t.test('the metrics show that a circuit has opened', async (t) => {
  const acme = await admin.organization('bad-luck')
  t.equal(await metric(adminPort, 'parley_circuits_open', 'provider="unpaid",kind="credential"'), 0)
  stub.behave({ kind: 'status', status: 401 })
  t.not((await llm(acme, 'unpaid/chat')).status, 200)
  t.equal(await metric(adminPort, 'parley_circuits_open', 'provider="unpaid",kind="credential"'), 0, 'of one alone')
  t.equal(await metric(adminPort, 'parley_circuits_organizations', 'provider="unpaid",kind="credential"'), 1)
  const other = await admin.organization('bad-luck-too')
  stub.behave({ kind: 'status', status: 401 })
  t.not((await llm(other, 'unpaid/chat')).status, 200)
  t.equal(await metric(adminPort, 'parley_circuits_open', 'provider="unpaid",kind="credential"'), 1)
  stub.behave({ kind: 'ok', usage })
})

t.test('the server emits each metric and label that the Grafana dashboard and the alerts use', async (t) => {
  const emitted = readEmitted(await metricsText())
  const deploy = path.resolve(import.meta.dirname, '../../deploy')
  const board = JSON.parse(readFileSync(path.join(deploy, 'grafana/parley.json'), 'utf8')) as Board
  const rules = parse(readFileSync(path.join(deploy, 'prometheus/alerts.yaml'), 'utf8')) as Rules
  const queries = [
    ...board.panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr)),
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
  ]
  t.ok(queries.length > 30)
  t.ok(
    queries.some((query) => query.includes('parley_budget_events_total')),
    'the end of a budget raises an alert',
  )
  for (const query of queries) t.strictSame(faultsOf(query, emitted), [], query)
  t.strictSame(faultsOf('sum by (organization) (rate(parley_tokens_total[5m]))', emitted), [
    'parley_tokens_total has no label organization',
  ])
  t.strictSame(faultsOf('parley_no_such_total > 0', emitted), ['no metric parley_no_such_total'])
})

t.test('the number of organizations does not change the number of time series in the metrics', async (t) => {
  const count = Math.max(10, requestsMade / 100)
  const organizations: Target[] = []
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const made = await admin.organization(`org-${i}`)
    organizations.push(made)
    ids.push(made.id, made.keyId)
  }
  let sent = 0
  const one = async (target: Target) => {
    const id = sent++
    if (id % 8 === 1) return send(target, `/router/v1/no-such-${id}`)
    if (id % 8 === 2) return llm({ ...target, key: `sk_live_wrong_${id}` })
    // A client has made up this model name. The catalog does not list such a model.
    return llm(target, id % 8 === 3 ? `main/of-caller-${id}` : 'main/chat')
  }
  const many = async (from: number, to: number) => {
    for (let at = from; at < to; at += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, i) => one(organizations[(at + i) % count] as Target)))
  }
  stub.behave({ kind: 'ok', usage })
  await many(0, 64)
  t.equal((await llm(organizations[0] as Target)).status, 200)
  const before = seriesOf(await metricsText())
  await many(64, requestsMade)
  const after = seriesOf(await metricsText())
  t.strictSame(after, before)
  t.ok(before.length > 100)
  t.ok(after.includes('parley_tokens_total{stage="llm",provider="main",model="unlisted",kind="input"}'))
  const all = after.join('\n')
  t.strictSame(
    ids.filter((id) => all.includes(id)),
    [],
  )
})

t.test('metrics are served only at adminHost', async (t) => {
  const server = await startMetricsServer('127.0.0.2', 0, new Registry())
  t.teardown(server.close)
  t.equal((await fetch(`http://127.0.0.2:${server.port}/metrics`)).status, 200)
  t.equal((await fetch(`http://127.0.0.2:${server.port}/`)).status, 404)
  await t.rejects(fetch(`http://127.0.0.1:${server.port}/metrics`))
})

type Board = { panels: { targets?: { expr: string }[] }[] }
type Rules = { groups: { rules: { expr: string }[] }[] }
