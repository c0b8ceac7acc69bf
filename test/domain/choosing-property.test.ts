import assert from 'node:assert/strict'
import t from 'tap'
import type { ProviderKeys } from '../../domain/access/provider-keys.ts'
import type { Generated } from '../../domain/llm/generate.ts'
import type { ItemsAnswer } from '../../domain/llm/items.ts'
import type { Llm } from '../../domain/ports/llm.ts'
import type { Benchmark, Model, Price } from '../../domain/ports/model.ts'
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Caller, OwnKeys } from '../../domain/records/organization.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { baseAsk } from '../../domain/routing/ask.ts'
import { createPreview } from '../../domain/routing/preview.ts'
import { fc } from '../random.ts'
import { generateItems } from './fake-llm.ts'
import { bench, caller, failure, model, order, provider, script, usage } from './fakes.ts'

const ids = ['a', 'b', 'c', 'd']
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

const benchmarks: fc.Arbitrary<Benchmark[]> = fc.array(
  fc.record({
    metric: fc.constantFrom('pass_rate_pct', 'ttfb_p50_ms', 'other'),
    value: maybe(fc.integer({ min: 0, max: 2000 })),
    unit: fc.constant('x'),
    language: fc.constantFrom('en', 'es', 'es-MX', '*'),
    path: fc.constantFrom('stream' as const, 'batch' as const),
    source: fc.constantFrom('one', 'two'),
    asOf: fc.constant('2026-01-01'),
  }),
  { maxLength: 5 },
)
const prices: fc.Arbitrary<Price[]> = fc
  .tuple(maybe(fc.integer({ min: 0, max: 50 })), maybe(fc.integer({ min: 0, max: 50 })))
  .map(([input, output]) => [
    { unit: 'million_input_tokens', microUsd: input, source: 's', asOf: 'd' },
    { unit: 'million_output_tokens', microUsd: output, source: 's', asOf: 'd' },
  ])
const row: fc.Arbitrary<Model> = fc
  .record({
    id: fc.constantFrom('m', 'n'),
    languages: fc.constantFrom(['*'], ['en'], ['es'], ['es', 'es-MX']),
    lastResort: fc.boolean(),
    benchmarks,
    prices,
  })
  .map((over) => model('llm', over))

/**
 * Provider keys of two organizations: a working key, a key deleted or replaced meanwhile, and a key that this process
 * cannot open.
 */
const organizations = ['org_1', 'org_2'] as const
const ownKeys = fc.dictionary(fc.constantFrom(...ids), fc.constantFrom('good', 'deleted', 'unopenable'), {
  noNullPrototype: true,
})
const providerKeys: ProviderKeys = {
  open(_organization, _provider, keyId) {
    if (keyId.endsWith('unopenable')) return Promise.reject(new Error('another master key'))
    return keyId.endsWith('deleted') ? null : Promise.resolve(keyId)
  },
}
/**
 * Names a provider key. The name contains the organization, because one organization's failures do not count against
 * another.
 */
const keyIdOf = (organization: string, provider: string, kind: string) => `${organization} ${provider} ${kind}`

const world = fc.record({
  models: fc.tuple(...ids.map(() => fc.uniqueArray(row, { maxLength: 2, selector: ({ id }) => id }))),
  unavailable: fc.subarray(ids),
  ownKeys: fc.record({ org_1: ownKeys, org_2: ownKeys }),
  past: fc.array(
    fc.record({
      provider: fc.constantFrom(...ids),
      id: fc.constantFrom('m', 'n'),
      /** The organization whose provider key was used, if any. */
      organization: maybe(fc.constantFrom(...organizations)),
      error: maybe(
        fc.constantFrom<ErrorClass>('server', 'unreachable', 'auth', 'rate_limited', 'bad_request', 'cancelled'),
      ),
      retryAfterS: fc.constantFrom(undefined, undefined, 5, 86_400),
      firstByteMs: fc.integer({ min: 1, max: 5000 }),
      waitMs: fc.constantFrom(0, 0, 0, 5000, 60_000),
      /** True if the attempt still runs during the next choice. */
      isUnderWay: fc.constantFrom(false, false, false, true),
    }),
    { maxLength: 30 },
  ),
  language: maybe(fc.constantFrom('en', 'es', 'es-MX', 'fr')),
  policy: fc.record(
    { allowProviders: fc.subarray(ids, { minLength: 1 }), chain: fc.constant({ llm: ['c/m', 'a/n', 'a/m'] }) },
    { requiredKeys: [] },
  ),
  routing: fc.oneof(
    fc
      .record({ provider: fc.constantFrom(...ids), model: fc.constantFrom('m', 'n') })
      .map((pin): Routing => ({ mode: 'explicit', ...pin })),
    fc
      .record({
        objective: fc.constantFrom('balanced' as const, 'quality' as const, 'latency' as const, 'cost' as const),
        denyProviders: fc.subarray(ids),
      })
      .map((fields): Routing => ({ mode: 'auto', ...fields })),
  ),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

type Organization = (typeof organizations)[number]

function ownKeysOf({ ownKeys }: World, organization: Organization): OwnKeys {
  const kinds = Object.entries(ownKeys[organization])
  return Object.fromEntries(kinds.map(([provider, kind]) => [provider, keyIdOf(organization, provider, kind)]))
}

function callerOf(drawn: World, id: Organization): Caller {
  return caller(drawn.policy, {
    organization: { id, name: id, maxConcurrency: null, ownKeys: ownKeysOf(drawn, id), isDisabled: false },
  })
}

/**
 * Builds the router's state after the drawn attempts. `asked` records each request: the pin, and the key if it was not
 * the operator's.
 */
async function live(drawn: World) {
  const { models, unavailable, past } = drawn
  const asked: string[] = []
  const llm = (id: string, apiKey?: string): Llm => ({
    respond: (request) => {
      asked.push([`${id}/${request.model}`, ...(apiKey === undefined ? [] : [apiKey])].join(' '))
      return Promise.resolve({ text: 'hi', calls: [], stopReason: 'stop', usage })
    },
    stream: () => script([]),
  })
  const providers = ids.map((id, i) => ({
    ...provider(id, models[i] ?? [], { llm: llm(id) }),
    unavailable: () => (unavailable.includes(id) ? 'no_credential' : null),
    forKey: (apiKey: string) => ({ llm: llm(id, apiKey) }),
  }))
  const all = bench(providers)
  all.deps.providerKeys = providerKeys
  for (const { provider, id, organization, error, retryAfterS, firstByteMs, waitMs, isUnderWay } of past) {
    const found = all.catalog.find('llm', provider, id)
    const ownKey = organization && (ownKeysOf(drawn, organization)[provider] ?? null)
    const permit = found && all.health.begin(found, 'stream', ownKey)
    if (isUnderWay) continue
    if (error) permit?.failed(failure(error, true, retryAfterS))
    else permit?.succeeded({ firstByteMs })
    await all.clock.advance(waitMs)
  }
  return { ...all, asked }
}

/** Returns a request's attempts as the preview predicts them, if only provider keys fail. */
function expected(order: readonly string[], own: OwnKeys, attemptsMax: number): { tried: string[]; asked: string[] } {
  const [tried, cooling]: [string[], Set<string>] = [[], new Set()]
  for (const pin of order) {
    const [id = ''] = pin.split('/')
    // A failing provider key blocks all its provider's models.
    if (cooling.has(id)) continue
    if (tried.length === attemptsMax) break
    tried.push(pin)
    const keyId = own[id]
    if (keyId === undefined) return { tried, asked: [pin] }
    if (keyId.endsWith('good')) return { tried, asked: [`${pin} ${keyId}`] }
    cooling.add(id)
  }
  return { tried, asked: [] }
}

t.test('a routing preview equals the routing of the next request, with any provider keys', async (t) => {
  const requests = fc.array(fc.constantFrom(...organizations), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(world, requests, async (drawn, asking) => {
      const { attempts, chooser, deps, asked } = await live(drawn)
      const language = drawn.language ?? undefined
      const wish = { routing: drawn.routing, ...(language && { language }) }
      for (const [i, organization] of asking.entries()) {
        const who = callerOf(drawn, organization)
        const { candidate, runnersUp } = createPreview(chooser)({ caller: who, stage: 'llm', ...wish })
        const inOrder = candidate === null ? [] : [candidate, ...runnersUp]
        const due = expected(inOrder, who.organization.ownKeys, deps.limits.llm.attemptsMax)
        const request = { items: [], maxOutputTokens: 10, tools: [] }
        const key = { keyDigest: `digest ${i}`, contentHash: 'hash' }
        const input = { ...order({ caller: who, key }), ...wish, request }
        const answer: Generated<ItemsAnswer> | Fault = await generateItems(deps)
          .whole(input)
          .catch((error: unknown) => {
            if (error instanceof Fault) return error
            throw error
          })
        const tried = attempts.splice(0).map((attempt) => attempt.split(' ')[0])
        assert.deepEqual({ tried, asked: asked.splice(0) }, due)
        assert.equal(answer instanceof Fault, due.asked.length === 0)
      }
    }),
    { numRuns: 400 },
  )
  t.pass()
})

t.test('each LLM of the catalog is either a candidate or excluded, and a repeated choice is cached', async (t) => {
  await fc.assert(
    fc.asyncProperty(world, async (drawn) => {
      const { chooser, catalog } = await live(drawn)
      const ask = baseAsk(callerOf(drawn, 'org_1'), 'llm', drawn.routing, drawn.language ?? undefined)
      const choice = chooser.choose(ask)
      const seen = [...choice.candidates, ...choice.excluded].map(({ row }) => row.key).sort()
      const rows = catalog
        .stage('llm')
        .map(({ key }) => key)
        .sort()
      const again = chooser.choose({ ...ask })
      return JSON.stringify(seen) === JSON.stringify(rows) && again === choice
    }),
    { numRuns: 200 },
  )
  t.pass()
})

t.test('candidates are sorted by descending score, then models without a score, then last-resort models', async (t) => {
  await fc.assert(
    fc.asyncProperty(world, async (drawn) => {
      const { chooser } = await live(drawn)
      const { candidates } = chooser.choose(
        baseAsk(callerOf({ ...drawn, policy: {} }, 'org_1'), 'llm', drawn.routing, 'fr'),
      )
      return candidates.every(({ row, score }, i) => {
        const next = candidates[i + 1]
        if (!next) return true
        if (row.model.lastResort !== next.row.model.lastResort) return next.row.model.lastResort
        if (score === null) return next.score === null
        return next.score === null || score >= next.score
      })
    }),
    { numRuns: 200 },
  )
  t.pass()
})
