/** getUsage equals the sum over random requests' responses, with failures, provider keys and unknown prices. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { seed } from '../random.ts'
import { ask, postJson, readEvents, responses, speech, type Target, transcribe } from '../router/requests.ts'
import { call, deleteKey, faultOf, putKey, routeOf, startAdministered } from './setup.ts'
import { Expected, type LlmUsage, randomOf, wavOf } from './spending.ts'

const requestsMade = Number(process.env['PARLEY_TEST_REQUESTS'] ?? 1_000)
const atOnce = 8

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const models = { llm: ['chat'], tts: ['speak'], stt: ['listen'] }
const prices = [
  { model: 'chat', unit: 'million_input_tokens', microUsd: 150_000 },
  { model: 'chat', unit: 'million_cached_input_tokens', microUsd: 33_333.25 },
  { model: '*', unit: 'million_output_tokens', microUsd: 7_654_321 },
  { model: 'speak', unit: 'million_characters', microUsd: 15_000_000 },
  { model: 'listen', unit: 'audio_hour', microUsd: 360_001 },
].map((price) => ({ ...price, asOf: '2026-11' }))
const provider = (id: string, more: object) => ({
  id,
  adapter: 'openai',
  baseUrl: `${stub.url}/${id}/v1`,
  models,
  ...more,
})
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    provider('priced', { apiKey: 'platform', prices }),
    provider('unknown', { apiKey: 'platform' }),
    // This price is not used, because the organization has a provider key for this provider.
    provider('own', { apiKey: 'env:NO_SUCH_KEY', prices }),
  ]),
  // The circuit must stay closed, because an open circuit would send requests to other providers.
  PARLEY_CIRCUIT_FAILURES_MAX: '1000000',
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const minuteMs = 60_000

type Breakdown = { provider: string; type?: string; metric: string; keySource: string; quantity: number; cost: number }
type Usage = {
  rows: Record<string, unknown>[]
  total: { requests: number; costMicroUsd: string | null }
  totalSessions: number
  totalMinutes: number
  totalCost: number
  breakdown: Breakdown[]
  balanceUsd: number
  currency: string
}
const creditMicroUsd = 100_000_000

t.test('getUsage adds up the usage that the answers reported', async (t) => {
  t.comment(`seed ${seed}, ${requestsMade} requests`)
  const acme = await admin.organization('acme', { creditMicroUsd })
  t.equal((await putKey(acme, 'own', 'of-acme')).status, 200)
  const random = randomOf(seed)
  const expected = new Expected()
  const oneRequest = async () => {
    const id = random.pick(['priced', 'priced', 'unknown', 'own'])
    const usage = {
      prompt_tokens: random.upTo(5_000) + 100,
      completion_tokens: random.upTo(200) + 10,
      prompt_tokens_details: { cached_tokens: random.upTo(100) },
      completion_tokens_details: { reasoning_tokens: random.upTo(10) },
    }
    const stage = random.pick(['llm', 'llm stream', 'tts', 'stt'])
    const failure = random.pick([
      null,
      null,
      null,
      { kind: 'status', status: 500 } as const,
      { kind: 'error_mid' } as const,
    ])
    stub.behave(failure ?? { kind: 'ok', usage })
    const routing = (model: string) => ({ mode: 'explicit', model: `${id}/${model}` })
    if (stage === 'tts') {
      const input = 'x'.repeat(random.upTo(300) + 1)
      const said = await postJson(acme, speech, { input, voice: 'alloy', routing: routing('speak') })
      if (said.status !== 200) return expected.failed(said.status)
      const characters = Number(said.headers.get('service-usage-characters'))
      const cost = { priced: Math.ceil(characters * 15), unknown: null, own: 0 }[id as 'priced' | 'unknown' | 'own']
      return expected.add(id, 'tts', cost, { characters })
    }
    if (stage === 'stt') {
      const said = await transcribe(acme, wavOf(random.upTo(3_000) + 100), { routing: routing('listen') })
      if (said.status !== 200) return expected.failed(said.status)
      const transcribed = said.json<{ usage: { duration_ms: number; cost_micro_usd: number | null } }>().usage
      return expected.add(id, 'stt', transcribed.cost_micro_usd, { audio_milliseconds: transcribed.duration_ms })
    }
    const stream = stage !== 'llm'
    const said = await postJson(acme, responses, ask('Hello.', { routing: routing('chat'), stream }))
    if (said.status !== 200) return expected.failed(said.status)
    const answered = stream
      ? (readEvents(said.text).at(-1)?.data as { usage?: LlmUsage })
      : said.json<{ usage: LlmUsage }>()
    // A broken stream reports no usage, and its row has no billable usage.
    if (answered.usage === undefined) return expected.failed(502)
    const { cost_micro_usd: cost, ...tokens } = answered.usage
    return expected.add(id, 'llm', cost, tokens)
  }
  let left = requestsMade
  const worker = async () => {
    while (left-- > 0) await oneRequest()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  t.ok(expected.failures > 0 && expected.total.unpriced > 0 && Number(expected.total.costMicroUsd) > 0)

  const read = async (query = '') => (await call(acme, 'GET', `/v1/usage?groupBy=${query}`)).json<Usage>()
  let usage = await read('provider,stage')
  for (let tries = 0; usage.total.requests < requestsMade && tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    usage = await read('provider,stage')
  }
  t.same(usage.total, { ...expected.total, requests: requestsMade, failed: expected.failures })
  t.same(
    usage.rows.map(({ requests, failed, ...row }) => ({ ...row, succeeded: Number(requests) - Number(failed) })),
    expected.rows(),
  )
  t.same(usage.breakdown, expected.breakdown(['own']))
  t.equal(usage.totalCost, Number(usage.total.costMicroUsd) / 1e6)
  t.equal(usage.balanceUsd, (creditMicroUsd - Number(usage.total.costMicroUsd)) / 1e6)
  t.same([usage.totalSessions, usage.totalMinutes, usage.currency], [0, 0, 'USD'])
  for (const groups of ['day', 'key', 'agent', 'model', 'stage', 'day,key,agent,provider,model,stage'])
    t.same((await read(groups)).total, usage.total, groups)
  for (const { quantities } of [usage.total, ...usage.rows] as { quantities: object }[])
    t.strictSame(Object.keys(quantities), Object.keys(quantities).sort(), 'in the order of the units')
  const [byKey] = (await read('key,agent')).rows
  t.match(byKey, { keyId: acme.keyId, agentId: null })
  const { creditMicroUsd: credit, movements } = (await call(acme, 'GET', '/v1/credits')).json<{
    creditMicroUsd: string
    movements: { kind: string; microUsd: string }[]
  }>()
  t.equal(creditMicroUsd - Number(credit), Number(usage.total.costMicroUsd), 'the credit has paid the same')
  const ofRequests = movements.filter(({ kind }) => kind === 'requests')
  t.equal(
    ofRequests.reduce((sum, { microUsd }) => sum - Number(microUsd), 0),
    Number(usage.total.costMicroUsd),
  )

  const nothing = { requests: 0, legs: 0, failed: 0, unpriced: 0, costMicroUsd: '0', quantities: {} }
  for (const other of [await admin.key(acme.id, { test: true }), await admin.organization('stranger')])
    t.same(
      partOf((await call(other, 'GET', '/v1/usage')).json<Usage>()),
      { rows: [], total: nothing, breakdown: [], totalCost: 0, totalSessions: 0 },
      'nobody else sees it',
    )
  const shown = await runCommand(parley, ['usage', '--by', 'provider'], { PARLEY_API_KEY: acme.key })
  t.equal(shown.code, 0, shown.stderr)
  t.comment(shown.stdout)
  t.match(shown.stdout, new RegExp(`^ {2}total +${requestsMade} `, 'm'))
  t.match(shown.stdout, /^ {2}own .* \$0\.000000 /m)
  t.match(shown.stdout, /^ {2}unknown .* unknown|^ {2}unknown .* \$0\.000000 /m)

  const operator = (...args: string[]) => runCommand(parley, [...args, '--org', acme.id])
  t.equal((await operator('usage', '--by', 'provider')).stdout, shown.stdout, 'the operator needs no key')
  t.match((await operator('credits')).stdout, new RegExp(`^credit \\$${(Number(credit) / 1e6).toFixed(6)}$`, 'm'))
})

const partOf = ({ rows, total, breakdown, totalCost, totalSessions }: Usage) => ({
  ...{ rows, total, breakdown, totalCost, totalSessions },
})

t.test('keySource in the breakdown is BYOK only if no use of the provider has cost anything', async (t) => {
  const other = await admin.organization('keys')
  const breakdown = async () => {
    const { breakdown } = (await call(other, 'GET', '/v1/usage')).json<Usage>()
    return [...new Set(breakdown.map(({ provider, keySource }) => `${provider} ${keySource}`))].sort()
  }
  const ask = async (id: string) => {
    stub.behave({ kind: 'ok' })
    const routing = { mode: 'explicit', model: `${id}/chat` }
    await routeOf(t, other, await postJson(other, responses, askWith(routing)))
  }
  await ask('unknown')
  await putKey(other, 'unknown', 'of-keys')
  t.same(await breakdown(), ['unknown MANAGED'], 'a cost that is not known is not 0')
  await putKey(other, 'own', 'of-keys')
  await ask('own')
  t.same(await breakdown(), ['own BYOK', 'unknown MANAGED'])
  await deleteKey(other, 'own')
  t.same(await breakdown(), ['own MANAGED', 'unknown MANAGED'], 'the keys that are stored now')
})

const askWith = (routing: object) => ask('Hello.', { routing })

t.test("totalSessions and totalMinutes count an organization's live or test sessions in a given time", async (t) => {
  const [owner, stranger] = [await admin.organization('minutes'), await admin.organization('other minutes')]
  const inTest = await admin.key(owner.id, { test: true })
  const startedAtMs = Date.parse('2026-11-10T10:00:00Z')
  /** Makes a session that was created at this time and lasted this many minutes; null: it has not ended. */
  const session = async (target: Target, madeAtMs: number, minutes: number | null) => {
    const made = await call(target, 'POST', '/v1/sessions', { intent: { language: 'en' } })
    const endedAt = minutes === null ? null : new Date(madeAtMs + minutes * minuteMs)
    await sql`
      update calls set created_at = ${new Date(madeAtMs)}, started_at = ${new Date(madeAtMs)}, ended_at = ${endedAt},
        end_reason = ${endedAt && 'caller_hangup'}, status = ${endedAt ? 'completed' : 'in_progress'}
      where id = ${made.json<{ sessionId: string }>().sessionId}`
  }
  await session(owner, startedAtMs, 2)
  await session(owner, startedAtMs + minuteMs, 0.5)
  await session(owner, startedAtMs + 2 * minuteMs, null)
  await session(inTest, startedAtMs, 7)
  await session(stranger, startedAtMs, 11)
  await session(owner, startedAtMs - 24 * 60 * minuteMs, 13)
  const totals = async (target: Target, day = 10) => {
    const [from, to] = [day, day + 1].map((each) => new Date(Date.UTC(2026, 10, each)).toISOString())
    const query = `from=${from}&to=${to}`
    const { totalSessions, totalMinutes } = (await call(target, 'GET', `/v1/usage?${query}`)).json<Usage>()
    return [totalSessions, totalMinutes]
  }
  t.same(await totals(owner), [3, 2.5], 'one that is not over has no minutes yet')
  t.same(await totals(owner, 9), [1, 13])
  t.same(await totals(owner, 11), [0, 0])
  t.same(await totals(inTest), [1, 7])
  t.same(await totals(stranger), [1, 11])
})

t.test('the commands `usage` and `credits` refuse values that they cannot parse', async (t) => {
  const refusal = async (...args: string[]) => (await runCommand(parley, args)).stderr
  for (const command of ['usage', 'credits'])
    t.match(
      await refusal(command, '--org', 'nobody'),
      /^parley: there is no organization nobody; `parley org list` shows them$/m,
    )
  t.match(await refusal('usage', '--org', 'org_0', '--by', 'day'), /there is no organization org_0/)
  t.match(
    await refusal('usage', '--by', 'day,prompt'),
    /--by: prompt is no group; there are hour, day, key, agent, provider/,
  )
  for (const day of ['2026-02-30', '1', '2026-11'])
    t.match(await refusal('usage', '--from', day), new RegExp(`--from: ${day} is no time; write 2026-`))
  t.match(await refusal('credits', '--limit', 'all'), /--limit takes a whole number from 1 to 100, not all/)
  t.match(await refusal('credits', '--org', 'local', '--cursor', 'x'), /cursor/)
})

t.test('getUsage covers 30 days by default, and refuses more than 92 days or an empty time range', async (t) => {
  const acme = await admin.organization('times')
  const at = (query: string) => call(acme, 'GET', `/v1/usage?${query}`)
  const usual = (await at('to=2026-11-22T00:00:00Z')).json<{ from: string; groupBy: string[] }>()
  t.match(usual, { from: '2026-10-23T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z', groupBy: ['day'] })
  t.equal((await at('from=2026-08-22T00:00:00Z&to=2026-11-22T00:00:00Z')).status, 200)
  for (const query of [
    'from=2026-08-21T23:59:59Z&to=2026-11-22T00:00:00Z',
    'from=2026-11-22T00:00:00Z&to=2026-11-22T00:00:00Z',
    'from=yesterday',
    'groupBy=',
    'groupBy=day,',
    'groupBy=prompt',
  ])
    t.match(faultOf(await at(query)), { status: 400, code: 'VALIDATION_ERROR' }, query)
})
