/** Budgets of API keys over the public API, and the commands to set them. */
import t from 'tap'
import type { KeyPolicy } from '../../domain/records/organization.ts'
import { runCommand } from '../command.ts'
import { until } from '../process/machine.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import { answer, call, pinned, putKey, startAdministered } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const models = { llm: ['chat'], tts: ['speak'], stt: ['listen'] }
const prices = [{ model: 'chat', unit: 'million_output_tokens', microUsd: 10_000_000, asOf: '2026-11' }].concat({
  model: 'chat',
  unit: 'million_input_tokens',
  microUsd: 0,
  asOf: '2026-11',
})
const provider = (id: string, more: object) => ({
  ...{ id, adapter: 'openai', baseUrl: `${stub.url}/${id}/v1`, apiKey: 'platform', models },
  ...more,
})
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: JSON.stringify([provider('priced', { prices }), provider('unpriced', {})]),
})
const usage = (completion_tokens: number) => ({ prompt_tokens: 10, completion_tokens })
const parleyKeys = async (...args: string[]) => runCommand(parley, ['keys', ...args])

type Row = { id: string; name: string; budget: { spentMicroUsd: string } | null; policyFields: string[] }
const keyList = async (org: string) =>
  (JSON.parse((await parleyKeys('list', '--org', org, '--json')).stdout) as { data: (Row & Record<string, unknown>)[] })
    .data

async function shopKey(organizationId: string, budget: KeyPolicy['budget']) {
  const scopes = ['router' as const, 'platform' as const]
  const wanted = {
    organizationId,
    name: 'shop',
    scopes,
    test: false,
    policy: budget ? { budget } : {},
    expiresAtMs: null,
  }
  const made = await admin.store.keys.create(wanted)
  return { url: parley.url, key: made?.secret ?? '', keyId: made?.key.id ?? '' }
}

/** Returns the organization's key budgets once no reservation is open. */
async function settledBudgets(shop: Target): Promise<unknown[]> {
  let budgets: { reservedMicroUsd: string }[] = []
  await until('nothing is reserved', async () => {
    budgets = (await call(shop, 'GET', '/v1/credits')).json<{ budgets: typeof budgets }>().budgets
    return budgets[0]?.reservedMicroUsd === '0'
  })
  return budgets
}

/** Waits until the server answers with this status, because a changed key reaches the server through a notification. */
async function untilAnswered(shop: Target, status: number): Promise<void> {
  const asked = async () => (await answer(shop, pinned('priced/chat'))).status
  await until(`it is ${status}`, async () => (await asked()) === status)
}

t.test('an API key gets 402 when its budget is spent, and other keys of the organization still work', async (t) => {
  const acme = await admin.organization('acme', { creditMicroUsd: 5_000_000 })
  const shop = await shopKey(acme.id, { microUsd: 10_000, period: 'month' })
  stub.behave({ kind: 'ok', usage: usage(40) })
  const costs = []
  let last = await answer(shop, pinned('priced/chat'))
  for (; last.status === 200 && costs.length < 200; last = await answer(shop, pinned('priced/chat'))) {
    costs.push(last.json<{ usage: { cost_micro_usd: number } }>().usage.cost_micro_usd)
    // A reservation covers the request's highest possible cost, and is released a moment after the answer.
    await settledBudgets(shop)
  }
  t.equal(last.status, 402, last.text)
  t.match(last.json(), {
    error: {
      code: 'insufficient_credit',
      type: 'billing_error',
      retryable: false,
      message:
        /^The budget of this key, 0\.01 US dollars a UTC month, does not cover the most that this request can cost\.$/,
      hint: /wait for the next UTC month or have the budget of the key raised\.$/,
    },
  })
  t.equal(last.headers.get('retry-after'), null)
  t.ok(costs.length > 5, `${costs.length} requests were answered`)
  t.equal((await answer(acme, pinned('priced/chat'))).status, 200, 'a key without a budget goes on')
  t.equal((await answer(shop, pinned('unpriced/chat'))).status, 200, 'an unknown price reserves nothing')
  const spent = costs.reduce((sum, cost) => sum + cost, 0)
  t.match(await settledBudgets(shop), [
    {
      ...{ keyId: shop.keyId, name: 'shop', microUsd: '10000', period: 'month', current: /^\d{4}-\d{2}$/ },
      ...{ spentMicroUsd: String(spent), reservedMicroUsd: '0', exhaustedAt: /Z$/ },
    },
  ])
  const listed = await parleyKeys('list', '--org', 'acme')
  t.match(listed.stdout, `shop  spent $${(spent / 1e6).toFixed(6)} of $0.010000 a month  policy budget`)
  t.match((await keyList('acme')).find(({ id }) => id === shop.keyId)?.budget, {
    ...{ microUsd: '10000', period: 'month', spentMicroUsd: String(spent) },
  })
  t.equal((await putKey(shop, 'priced', 'of-acme')).status, 200)
  t.equal((await answer(shop, pinned('priced/chat'))).status, 200, 'its own key needs none')
})

t.test('`parley keys set` raises and removes a budget while the server runs', async (t) => {
  await admin.organization('setters')
  const args = ['--org', 'setters', '--name', 'shop', '--budget', '0.000001usd/total', '--json']
  const made = JSON.parse((await parleyKeys('create', ...args)).stdout) as { id: string; secret: string }
  const shop = { url: parley.url, key: made.secret, keyId: made.id }
  t.equal((await answer(shop, pinned('priced/chat'))).status, 402)
  const raised = await parleyKeys('set', 'shop', 'budget=5usd/day', '--org', 'setters')
  t.match(raised.stdout, /spent \$0\.000000 of \$5\.000000 a day/)
  await untilAnswered(shop, 200)
  t.match(await parleyKeys('set', shop.keyId, 'budget=0usd/day', '--org', 'setters'), { code: 0 })
  await untilAnswered(shop, 402)
  t.pass('a budget of 0 lets free requests through')
  t.match(JSON.parse((await parleyKeys('set', 'shop', 'budget=none', '--org', 'setters', '--json')).stdout), {
    ...{ id: shop.keyId, budget: null, policyFields: [] },
  })
  await untilAnswered(shop, 200)
  for (const wrong of ['budget=5usd/week', 'name=x'])
    t.match(await parleyKeys('set', 'shop', wrong, '--org', 'setters'), {
      code: 2,
      stderr: /write budget=5usd|write 5usd/,
    })
  t.match(await parleyKeys('create', '--org', 'setters', '--policy', '{"budget":{"microUsd":1,"period":"week"}}'), {
    ...{ code: 2, stderr: /budget\/period must be one of day, month, total/ },
  })
})

t.test(
  'commands accept the name or the id of an API key, and list the ids if two live keys have the same name',
  async (t) => {
    const { id } = await admin.organization('names')
    const first = await shopKey(id, { microUsd: 1, period: 'day' })
    t.match(await parleyKeys('rotate', 'shop', '--org', 'names', '--json'), {
      code: 0,
      stdout: new RegExp(first.keyId),
    })
    const second = await shopKey(id, { microUsd: 1, period: 'day' })
    for (const args of [
      ['rotate', 'shop'],
      ['revoke', 'shop'],
      ['set', 'shop', 'budget=none'],
    ]) {
      const refused = await parleyKeys(...args, '--org', 'names')
      t.match(refused, { code: 1, stderr: /2 live keys have the name shop; give the id of one/ })
      for (const { keyId } of [first, second]) t.match(refused.stderr, keyId)
    }
    t.equal((await parleyKeys('revoke', first.keyId, '--org', 'names')).stdout.trim(), `${first.keyId} is revoked`)
    t.equal((await parleyKeys('revoke', 'shop', '--org', 'names')).stdout.trim(), `${second.keyId} is revoked`)
    t.match(await parleyKeys('revoke', 'shop', '--org', 'names'), { code: 1, stderr: /there is no live key shop/ })
  },
)
