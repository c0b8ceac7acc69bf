/** Provider keys in an organization's requests: their use, their cost, and the effect of failures. */
import t from 'tap'
import type { ProviderKeys } from '../../domain/access/provider-keys.ts'
import type { Llm } from '../../domain/ports/llm.ts'
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { Caller, OwnKeys } from '../../domain/records/organization.ts'
import { baseAsk } from '../../domain/routing/ask.ts'
import { explain } from '../../domain/routing/choice.ts'
import { answer, auto, generateItems, priced, request } from './fake-llm.ts'
import { bench, caller, failure, fault, model, order, provider } from './fakes.ts'

const platform = 'platform'
/** Opens the key `pkey_1` as `opened pkey_1`. */
const opens: ProviderKeys = { open: (_organization, _provider, keyId) => Promise.resolve(`opened ${keyId}`) }

/** Sets up providers a, b … `calls` records the key of each request; `answers` has one answer each. */
function setup(ids: readonly string[], answers: (Error | typeof answer)[] = [], keys: ProviderKeys = opens) {
  const calls: string[] = []
  const llmWith = (id: string, apiKey: string): Llm => ({
    respond: () => {
      calls.push(`${id} ${apiKey}`)
      const next = answers.shift() ?? answer
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
    },
    stream: () => {
      throw new Error('not asked for')
    },
  })
  const providers = ids.map((id) => ({
    ...provider(id, [model('llm', { prices: priced })], { llm: llmWith(id, platform) }),
    forKey: (apiKey: string) => ({ llm: llmWith(id, apiKey) }),
  }))
  const all = bench(providers)
  all.deps.providerKeys = keys
  const of = (ownKeys: OwnKeys) =>
    caller({}, { organization: { id: 'org_1', name: 'one', maxConcurrency: null, ownKeys, isDisabled: false } })
  const generate = generateItems(all.deps)
  const ask = (ownKeys: OwnKeys, requestKey = 'digest') =>
    generate.whole({
      ...order({ caller: of(ownKeys), key: { keyDigest: requestKey, contentHash: 'h' } }),
      routing: auto,
      request,
    })
  const choose = (ownKeys: OwnKeys) => all.chooser.choose(baseAsk(of(ownKeys), 'llm', auto, undefined))
  return { ...all, providers, calls, ask, choose }
}

function llmOf(given: typeof answer): Llm {
  return {
    respond: () => Promise.resolve(given),
    stream: () => {
      throw new Error('not asked for')
    },
  }
}

t.test('the first provider is called with the organization’s key, the next with the operator’s key', async (t) => {
  const all = setup(['a', 'b'], [failure('server')])
  const { costMicroUsd } = await all.ask({ a: 'pkey_1' })
  t.same(all.calls, ['a opened pkey_1', `b ${platform}`])
  t.equal(costMicroUsd, 30)
  t.match(all.ledger.last.row, {
    provider: 'b',
    costMicroUsd: 30,
    attempts: [
      { provider: 'a', outcome: 'server', costMicroUsd: 0, priceSource: null, keySource: 'byok' },
      { provider: 'b', outcome: 'succeeded', costMicroUsd: 30, priceSource: 's, d', keySource: 'platform' },
    ],
  })
  await all.ask({}, 'second')
  t.same(all.calls.slice(2), [`a ${platform}`], 'nobody else gets it')
})

t.test(
  'a provider without the operator’s credential is a candidate for an organization with its own key',
  async (t) => {
    const all = setup(['a', 'b'])
    const [a] = all.providers
    if (a) a.unavailable = () => 'no_credential'
    t.same(explain(all.choose({})).candidate, 'b/m')
    t.match(explain(all.choose({})).excluded, [{ provider: 'a', reason: 'unavailable', detail: 'no_credential' }])
    t.same(explain(all.choose({ a: 'pkey_1' })).candidate, 'a/m')
    await all.ask({ a: 'pkey_1' })
    await all.ask({}, 'second')
    t.same(all.calls, ['a opened pkey_1', `b ${platform}`])
    if (a) a.unavailable = () => 'not running'
    t.same(explain(all.choose({ a: 'pkey_1' })).candidate, 'b/m', 'a key mends nothing else')
    t.same(explain(all.choose({ constructor: 'x', b: 'pkey_2' })).candidate, 'b/m')
  },
)

t.test('a request with a provider key of the organization costs no credit', (t) => {
  t.test('an organization without credit can send requests with its own provider key', async (t) => {
    const all = setup(['a', 'b'], [failure('server'), answer])
    all.credit.balance = 0
    const error = await fault(all.ask({ a: 'pkey_1' }))
    t.equal(error.kind, 'all_failed', 'who has no credit is not failed over to what costs some')
    t.same(all.calls, ['a opened pkey_1'])
    t.match(await all.ask({ a: 'pkey_1' }, 'second'), { costMicroUsd: 0 })
    t.match(all.ledger.last, { reservedMicroUsd: 0, row: { costMicroUsd: 0, attempts: [{ keySource: 'byok' }] } })
    t.equal((await fault(all.ask({}, 'third'))).kind, 'credit_too_low')
  })

  t.test('with unpricedNeedsCredit a request of unknown price needs a positive balance', async (t) => {
    const one = { ...provider('a', [model('llm')], { llm: llmOf(answer) }), forKey: () => ({ llm: llmOf(answer) }) }
    const all = bench([one])
    all.deps.unpricedNeedsCredit = true
    all.deps.providerKeys = opens
    const generate = generateItems(all.deps)
    let keys = 0
    const ask = (over: Partial<Caller> = {}) => {
      const key = { keyDigest: `unpriced ${++keys}`, contentHash: 'h' }
      return generate.whole({ ...order({ caller: caller({}, over), key }), routing: auto, request })
    }
    all.credit.balance = 0
    t.equal((await fault(ask())).kind, 'credit_too_low')
    const { organization } = caller()
    t.equal((await ask({ organization: { ...organization, ownKeys: { a: 'pkey_1' } } })).costMicroUsd, 0)
    all.credit.balance = 1
    t.equal((await ask()).costMicroUsd, null)
    t.match(all.ledger.last, { reservedMicroUsd: 1, row: { costMicroUsd: null } })
    all.credit.balance = 0
    all.deps.unpricedNeedsCredit = false
    t.equal((await ask()).costMicroUsd, null)
    t.match(all.ledger.last, { reservedMicroUsd: 0 })
  })

  t.test('credit is reserved only for candidates that use the operator’s key', async (t) => {
    const all = setup(['a', 'b'])
    await all.ask({ a: 'pkey_1' })
    t.equal(all.ledger.last.reservedMicroUsd, 458)
    await all.ask({ a: 'pkey_1', b: 'pkey_2' }, 'second')
    t.equal(all.ledger.last.reservedMicroUsd, 0)
  })
  t.end()
})

t.test('if a provider key cannot be decrypted, its provider is skipped and the next candidate answers', async (t) => {
  const broken: [string, ProviderKeys][] = [
    ['deleted meanwhile', { open: () => null }],
    ['sealed with another master key', { open: () => Promise.reject(new Error('another master key')) }],
    [
      'no database',
      {
        open: () => {
          throw new Error('no database')
        },
      },
    ],
  ]
  for (const [name, keys] of broken) {
    const all = setup(['a', 'b'], [], keys)
    await all.ask({ a: 'pkey_1' })
    t.same(all.calls, [`b ${platform}`], name)
    t.match(all.ledger.last.row.attempts, [{ provider: 'a', outcome: 'auth', keySource: 'byok' }, { provider: 'b' }])
    t.match(all.logs[0]?.fields, { outcome: 'auth', reason: String })
    const alone = setup(['a'], [], keys)
    t.equal((await fault(alone.ask({ a: 'pkey_1' }))).kind, 'providers_unreachable')
    t.equal(alone.idempotency.states.size, 0, 'nothing was sent, so the idempotency key is released')
  }
})

t.test('a failure with a provider key of an organization affects only that key', (t) => {
  const blocked = (all: ReturnType<typeof setup>, ownKeys: OwnKeys) => all.choose(ownKeys).excluded[0]?.reason ?? null
  for (const [errorClass, reason] of [
    ['auth', 'credential_cooling'],
    ['quota', 'credential_cooling'],
    ['rate_limited', 'circuit_open'],
    ['server', 'circuit_open'],
    ['timeout', 'circuit_open'],
  ] as [ErrorClass, string][]) {
    const isOfModel = errorClass === 'server' || errorClass === 'timeout'
    const all = setup(['a'])
    const [row] = all.catalog.stage('llm')
    if (!row) throw new Error('no row')
    for (let i = 0; i < 3; i += 1) all.health.begin(row, 'stream', 'pkey_1')?.failed(failure(errorClass))
    t.equal(blocked(all, { a: 'pkey_1' }), reason)
    t.equal(blocked(all, {}), null, `${errorClass}: not the operator's`)
    t.equal(blocked(all, { a: 'pkey_2' }), null, 'neither the next key nor another organization is blocked')
    t.equal(all.health.figures(row, 'stream') === null, !isOfModel, 'only failures of the model are in its figures')

    for (let i = 0; i < 3; i += 1) all.health.begin(row, 'stream')?.failed(failure(errorClass))
    t.equal(blocked(all, {}), reason)
    const forOthers = isOfModel ? reason : null
    t.equal(blocked(all, { a: 'pkey_2' }), forOthers, "the operator's failures of a model concern every key")
  }
  t.end()
})

t.test('equal routing choices share one routing record, even if the requests denied different providers', (t) => {
  const { chooser } = setup(['a', 'b'])
  const of = (denyProviders: readonly string[]) =>
    chooser.choose(baseAsk(caller(), 'llm', { mode: 'auto', objective: 'balanced', denyProviders }, undefined)).record
  t.same(of(['x']), of(['y']))
  t.not(of(['a']).id, of(['x']).id)
  t.notMatch(of(['k4n4ry']).text, 'k4n4ry')
  t.end()
})
