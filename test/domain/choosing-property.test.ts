import fc from 'fast-check'
import t from 'tap'
import type { Caller } from '../../domain/access/organization.ts'
import { Fault } from '../../domain/fault.ts'
import type { Llm } from '../../domain/llm/llm.ts'
import type { Answer } from '../../domain/llm/respond.ts'
import { createRespond } from '../../domain/llm/respond.ts'
import { baseAsk } from '../../domain/routing/ask.ts'
import type { Benchmark, Model, Price } from '../../domain/routing/model.ts'
import { createPreview } from '../../domain/routing/preview.ts'
import type { ErrorClass } from '../../domain/routing/provider-error.ts'
import type { Routing } from '../../domain/routing/routing.ts'
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

const world = fc.record({
  models: fc.tuple(...ids.map(() => fc.uniqueArray(row, { maxLength: 2, selector: ({ id }) => id }))),
  unavailable: fc.subarray(ids),
  past: fc.array(
    fc.record({
      provider: fc.constantFrom(...ids),
      id: fc.constantFrom('m', 'n'),
      error: maybe(
        fc.constantFrom<ErrorClass>('server', 'unreachable', 'auth', 'rate_limited', 'bad_request', 'cancelled'),
      ),
      firstByteMs: fc.integer({ min: 1, max: 5000 }),
      waitMs: fc.constantFrom(0, 0, 0, 5000, 60_000),
      /** It goes on while the next choice is made. */
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

/** A world with its past lived through. */
async function live({ models, unavailable, past }: World) {
  const asked: string[] = []
  const llm = (id: string): Llm => ({
    respond: (request) => {
      asked.push(`${id}/${request.model}`)
      return Promise.resolve({ text: 'hi', calls: [], stopReason: 'stop', usage })
    },
    stream: () => script([]),
  })
  const providers = ids.map((id, i) => provider(id, models[i] ?? [], { llm: llm(id) }))
  for (const each of providers) if (unavailable.includes(each.id)) each.reason = 'no_credential'
  const all = bench(providers)
  for (const { provider, id, error, firstByteMs, waitMs, isUnderWay } of past) {
    const found = all.catalog.find('llm', provider, id)
    const permit = found && all.health.begin(found, 'stream')
    if (isUnderWay) continue
    if (error) permit?.failed(failure(error))
    else permit?.succeeded({ firstByteMs })
    await all.clock.advance(waitMs)
  }
  return { ...all, asked }
}

t.test('preview equals the choice that the next request makes', async (t) => {
  await fc.assert(
    fc.asyncProperty(world, async (drawn) => {
      const { chooser, deps, asked } = await live(drawn)
      const who: Caller = caller(drawn.policy)
      const language = drawn.language ?? undefined
      const preview = createPreview(chooser)({
        caller: who,
        stage: 'llm',
        routing: drawn.routing,
        ...(language && { language }),
      })
      const request = { items: [], maxOutputTokens: 10, tools: [] }
      const answer: Answer | Fault = await createRespond(deps)({
        ...order({ caller: who }),
        routing: drawn.routing,
        ...(language && { language }),
        request,
        stream: false,
      }).catch((error: unknown) => {
        if (error instanceof Fault) return error
        throw error
      })
      if (answer instanceof Fault) return preview.candidate === null && asked.length === 0
      return preview.candidate === asked[0] && asked.length === 1
    }),
    { numRuns: 400 },
  )
  t.pass()
})

t.test('every row of the stage is a candidate or excluded, once, and a kept answer is the answer', async (t) => {
  await fc.assert(
    fc.asyncProperty(world, async (drawn) => {
      const { chooser, catalog } = await live(drawn)
      const ask = baseAsk(caller(drawn.policy), 'llm', drawn.routing, drawn.language ?? undefined)
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

t.test('order: stand-ins last, then those without a score, scores falling', async (t) => {
  await fc.assert(
    fc.asyncProperty(world, async (drawn) => {
      const { chooser } = await live(drawn)
      const { candidates } = chooser.choose(baseAsk(caller(), 'llm', drawn.routing, 'fr'))
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
