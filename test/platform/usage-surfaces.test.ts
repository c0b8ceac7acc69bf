/**
 * getUsage equals the sum over the responses of every API: after a failover, in the OpenAI-compatible API, over
 * sockets, and after a stream that broke.
 */
import t from 'tap'
import { costMicroUsd } from '../../domain/billing/price.ts'
import { freePort, until } from '../process/machine.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { start } from '../realtime/socket.ts'
import { ask, postJson, readEvents, responses } from '../router/requests.ts'
import { call, pinned, startAdministered } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const tokens = [
  { unit: 'million_input_tokens' as const, microUsd: 150_000.5 },
  { unit: 'million_output_tokens' as const, microUsd: 7_654_321 },
]
const speech = [
  { unit: 'million_characters' as const, microUsd: 15_000_001 },
  { unit: 'audio_hour' as const, microUsd: 360_007 },
]
const pricesOf = (model: string, prices: readonly object[]) =>
  prices.map((price) => ({ model, ...price, asOf: '2026-11' }))
const chat = { adapter: 'openai', apiKey: 'platform', models: { llm: ['chat'] }, prices: pricesOf('chat', tokens) }
const { admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    { ...chat, id: 'down', baseUrl: `http://127.0.0.1:${await freePort()}/v1` },
    { ...chat, id: 'steady', baseUrl: `${stub.url}/v1` },
    { ...chat, id: 'unknown', baseUrl: `${stub.url}/v1`, prices: [] },
    { id: 'loopback', adapter: 'loopback', prices: pricesOf('*', speech) },
  ]),
  PARLEY_CIRCUIT_FAILURES_MAX: '1000000',
})
const creditMicroUsd = 100_000_000
const usage = { prompt_tokens: 1_234, completion_tokens: 57 }
const ok = { kind: 'ok', usage } as const

t.test('getUsage includes usage of the router API, the OpenAI-compatible API and the WebSockets', async (t) => {
  const { id, url } = await admin.organization('acme', { creditMicroUsd })
  const chain = { llm: ['down/chat', 'steady/chat'] }
  const wanted = { organizationId: id, name: '', test: false, expiresAtMs: null, policy: { chain } }
  const made = await admin.store.keys.create({ ...wanted, scopes: ['router', 'realtime', 'platform'] })
  const acme = { url, key: made?.secret ?? '' }
  const said: (number | null)[] = []

  stub.behave(ok)
  const failedOver = await postJson(acme, responses, ask('Hello.', { routing: { mode: 'auto' } }))
  const first = failedOver.json<{ route: { provider: string }; usage: { cost_micro_usd: number } }>()
  t.equal(first.route.provider, 'steady', failedOver.text)
  said.push(first.usage.cost_micro_usd)

  stub.behave(ok)
  const messages = [{ role: 'user', content: 'Hello.' }]
  const compatible = await call(acme, 'POST', '/v1/chat/completions', { model: 'steady:chat', messages })
  const counts = compatible.json<{ usage: typeof usage }>().usage
  t.match(counts, usage, compatible.text)
  const sourced = tokens.map((price) => ({ ...price, source: 's', asOf: 'd' }))
  said.push(
    costMicroUsd(sourced, [
      { unit: 'input_tokens', amount: counts.prompt_tokens },
      { unit: 'output_tokens', amount: counts.completion_tokens },
    ]),
  )

  stub.behave(ok)
  const unpriced = await postJson(acme, responses, ask('Hello.', { routing: pinned('unknown/chat') }))
  said.push(unpriced.json<{ usage: { cost_micro_usd: null } }>().usage.cost_micro_usd)

  stub.behave({ kind: 'error_mid' })
  const broken = await postJson(acme, responses, ask('Hello.', { routing: pinned('steady/chat'), stream: true }))
  t.equal(readEvents(broken.text).at(-1)?.event, 'error', broken.text)

  const speaking = await start(acme, '/v1/synthesize/stream', { model: 'loopback/loopback', sampleRate: 8000 })
  speaking.send({ type: 'text', text: 'Nineteen characters' })
  speaking.send({ type: 'end' })
  await speaking.closed
  const spoken = speaking.frames('end')[0]?.['usage'] as { characters: number; costMicroUsd: number }
  said.push(spoken.costMicroUsd)
  const hearing = await start(acme, '/v1/transcribe/stream', {
    ...{ model: 'loopback/loopback', encoding: 'pcm_s16le', sampleRate: 16000, language: 'en' },
  })
  for (let frames = 0; frames < 40; frames++) hearing.sendBytes(Buffer.alloc(640))
  hearing.send({ type: 'end' })
  await hearing.closed
  const transcribed = hearing.frames('end')[0]?.['usage'] as { durationMs: number; costMicroUsd: number }
  said.push(transcribed.costMicroUsd)
  t.ok(spoken.costMicroUsd > 0 && transcribed.costMicroUsd > 0, 'sockets have a price')

  const read = async (groups: string) => (await call(acme, 'GET', `/v1/usage?groupBy=${groups}`)).json<Usage>()
  let whole = await read('provider,stage')
  await until('all requests are in the ledger', async () => {
    whole = await read('provider,stage')
    return whole.total.requests >= 6
  })
  const known = said.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)
  t.match(whole.total, { requests: 6, failed: 1, unpriced: 1, costMicroUsd: String(known) })
  t.match(whole.rows, [
    {
      provider: 'loopback',
      stage: 'stt',
      costMicroUsd: String(transcribed.costMicroUsd),
      quantities: { audio_milliseconds: transcribed.durationMs },
    },
    {
      provider: 'loopback',
      stage: 'tts',
      costMicroUsd: String(spoken.costMicroUsd),
      quantities: { characters: spoken.characters },
    },
    { provider: 'steady', stage: 'llm', requests: 3, failed: 1, costMicroUsd: String((said[0] ?? 0) + (said[1] ?? 0)) },
    { provider: 'unknown', stage: 'llm', requests: 1, unpriced: 1, costMicroUsd: null },
  ])
  const credits = (await call(acme, 'GET', '/v1/credits')).json<Credits>()
  t.equal(creditMicroUsd - Number(credits.creditMicroUsd), known, 'the credit has paid the same')
  t.equal(credits.reservedMicroUsd, '0')
  const [ofDay] = credits.movements.filter(({ kind }) => kind === 'requests')
  t.equal(ofDay?.microUsd, String(-known))
})

type Usage = { rows: object[]; total: { requests: number } }
type Credits = { creditMicroUsd: string; reservedMicroUsd: string; movements: { kind: string; microUsd: string }[] }
