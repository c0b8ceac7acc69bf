/** Tests hedges on a test clock: if the first candidate is late, a second candidate is asked too. */
import t from 'tap'
import type { LlmEvent } from '../../domain/ports/llm.ts'
import type { Model, Objective } from '../../domain/ports/model.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import { createTranscribe } from '../../domain/speech/transcribe.ts'
import { settled } from '../clock.ts'
import { generateItems, priced } from './fake-llm.ts'
import { bench, collect, failure, model, order, provider, theEnd } from './fakes.ts'

type Answer = { afterMs: number } | { failsAfterMs: number }

/** Sets up two providers: `first` is fast by its figures, and `second` comes next. */
function world(over: { hedges?: boolean; attemptsMax?: number; samples?: number; prices?: Model['prices'] } = {}) {
  const answers: Record<string, Answer> = { first: { afterMs: 50 }, second: { afterMs: 50 } }
  const events: string[] = []
  const rated = (ms: number): Model =>
    model('llm', {
      prices: over.prices ?? [],
      benchmarks: [
        { metric: 'ttfb_p50_ms', value: ms, unit: 'ms', language: '*', path: 'stream', source: 's', asOf: '2026' },
      ],
    })
  const adapter = (id: string) => ({
    respond: () => Promise.reject(failure('server')),
    stream: (_: unknown, signal: CancelSignal) => answer(id, signal),
  })
  async function* answer(id: string, signal: CancelSignal): AsyncGenerator<LlmEvent> {
    events.push(`${id} asked at ${all.clock.monotonicMs() - startMs}`)
    signal.addEventListener('abort', () => events.push(`${id} cancelled`))
    const how = answers[id] ?? { afterMs: 0 }
    await new Promise<void>((resolve) =>
      all.clock.after('afterMs' in how ? how.afterMs : how.failsAfterMs, () => resolve()),
    )
    if ('failsAfterMs' in how) throw failure('server')
    yield { type: 'text', delta: id }
    yield theEnd
  }
  const all = bench([
    provider('first', [rated(1), { ...rated(500), id: 'sibling' }], { llm: adapter('first') }),
    provider('second', [rated(1000)], { llm: adapter('second') }),
  ])
  const row = all.catalog.find('llm', 'first', 'm')
  if (!row) throw new Error('no row')
  // 95 of 100 samples take at most 200 ms, so a first byte that comes later counts as late.
  for (let i = 0; i < (over.samples ?? 40); i++)
    all.health.begin(row, 'stream')?.succeeded({ firstByteMs: i % 20 === 0 ? 900 : i % 20 === 1 ? 200 : 100 })
  const limits = { ...all.deps.limits.llm, attemptsMax: over.attemptsMax ?? 3, firstByteMs: 5000 }
  const generate = generateItems({
    ...all.deps,
    hedges: over.hedges ?? true,
    limits: { ...all.deps.limits, llm: limits },
  })
  const startMs = all.clock.monotonicMs()
  const ask = async (objective: Objective = 'latency') => {
    const { events: stream, route } = await generate.stream({
      ...order(),
      routing: { mode: 'auto', objective },
      request: { items: [], maxOutputTokens: 10, tools: [] },
    })
    const { error } = await collect(stream)
    return { ...route, error }
  }
  return { ...all, answers, events, ask, row }
}

t.test('a hedged answer is billed, and the cost of the cancelled attempt is unknown', async (t) => {
  const { answers, ask, clock, ledger } = world({ prices: priced })
  answers['first'] = { afterMs: 3000 }
  const asked = ask()
  await settled()
  await clock.advance(200)
  await clock.advance(50)
  await asked
  const [cancelled, served] = ledger.last.row.attempts
  t.match(cancelled, { provider: 'first', outcome: 'cancelled', costMicroUsd: null, quantities: [] })
  t.ok(Number(served?.costMicroUsd) > 0, 'the second has a price')
  t.equal(ledger.last.row.costMicroUsd, served?.costMicroUsd)
})

t.test('if the first attempt is late, a second attempt answers, and the first is cancelled and settled', async (t) => {
  const { answers, events, ask, clock, ledger, attempts, health, row, held } = world()
  answers['first'] = { afterMs: 3000 }
  const asked = ask()
  await settled()
  await clock.advance(199)
  t.same(events, ['first asked at 0'])
  await clock.advance(1)
  t.same(events, ['first asked at 0', 'second asked at 200'], 'not another model of the same provider')
  await clock.advance(50)
  t.match(await asked, { provider: 'second', failovers: 0, error: null })
  t.ok(events.includes('first cancelled'))
  await settled()
  t.same(attempts, ['first/m cancelled', 'second/m succeeded'])
  t.match(ledger.last.row, {
    outcome: 'succeeded',
    provider: 'second',
    attempts: [
      { provider: 'first', outcome: 'cancelled', durationMs: 250 },
      { provider: 'second', outcome: 'succeeded' },
    ],
  })
  t.equal(health.blocked(row), null, 'being late is no failure')
  t.equal(health.figures(row, 'stream')?.errorRate, 0)
  t.equal(held.leases, 0)
  await clock.advance(20_000)
  t.equal(clock.timers, 0)
})

t.test('if the first attempt of a hedge answers first, the second attempt is cancelled', async (t) => {
  const { answers, ask, clock, attempts, events } = world()
  answers['first'] = { afterMs: 230 }
  const asked = ask()
  await settled()
  await clock.advance(300)
  t.match(await asked, { provider: 'first', failovers: 0 })
  t.ok(events.includes('second cancelled'))
  t.same(attempts, ['second/m cancelled', 'first/m succeeded'])
})

t.test('if both attempts of a hedge answer at once, one is used and the other is cancelled', async (t) => {
  const { answers, ask, clock, held, attempts } = world()
  answers['first'] = { afterMs: 250 }
  const asked = ask()
  await settled()
  await clock.advance(300)
  t.match(await asked, { provider: 'first' })
  t.same(attempts, ['second/m cancelled', 'first/m succeeded'])
  t.equal(held.leases, 0)
})

t.test('if one attempt of a hedge fails, the other goes on; if both fail, the next provider is tried', async (t) => {
  const one = world()
  one.answers['first'] = { failsAfterMs: 220 }
  one.answers['second'] = { afterMs: 400 }
  const asked = one.ask()
  await settled()
  await one.clock.advance(700)
  t.match(await asked, { provider: 'second', failovers: 1 })

  const both = world()
  both.answers['first'] = { failsAfterMs: 220 }
  both.answers['second'] = { failsAfterMs: 400 }
  const refused = both.ask().catch((error: unknown) => error)
  await settled()
  await both.clock.advance(2000)
  t.match(await refused, { kind: 'all_failed' })
  t.same(both.attempts, ['first/m server', 'second/m server', 'first/sibling server'])
})

t.test('a client that leaves ends both attempts of a hedge', async (t) => {
  const { deps, answers, clock, events, held } = world()
  answers['first'] = { afterMs: 3000 }
  answers['second'] = { afterMs: 3000 }
  const client = new AbortController()
  const gone = generateItems({ ...deps, hedges: true })
    .stream({
      ...order({ signal: client.signal }),
      routing: { mode: 'auto', objective: 'latency' },
      request: { items: [], maxOutputTokens: 10, tools: [] },
    })
    .catch((error: unknown) => error)
  await settled()
  await clock.advance(300)
  client.abort()
  await gone
  t.same(events.filter((event) => event.includes('cancelled')).sort(), ['first cancelled', 'second cancelled'])
  t.equal(held.leases, 0)
})

t.test(
  'no request is hedged by default, for objectives other than latency, with few samples or one attempt',
  async (t) => {
    const cases = [
      { name: 'off', world: world({ hedges: false }), objective: 'latency' },
      { name: 'objective', world: world(), objective: 'cost' },
      { name: 'samples', world: world({ samples: 19 }), objective: 'latency' },
      { name: 'attempts', world: world({ attemptsMax: 1 }), objective: 'latency' },
    ] as const
    for (const { name, world, objective } of cases) {
      world.answers['first'] = { afterMs: 900 }
      const asked = world.ask(objective)
      await settled()
      await world.clock.advance(1000)
      t.match(await asked, { provider: 'first' }, name)
      t.same(world.events.slice(0, 2), ['first asked at 0'], name)
    }
  },
)

t.test('a transcription is hedged later if its recording is longer', async (t) => {
  const asked: string[] = []
  const stt = (id: string, afterMs: number) => ({
    transcribe: async () => {
      asked.push(`${id} at ${all.clock.monotonicMs()}`)
      await new Promise<void>((resolve) => all.clock.after(afterMs, () => resolve()))
      return { text: id, segments: [] }
    },
  })
  const rtf = (value: number) => {
    const figure = { metric: 'real_time_factor', unit: 'ratio', language: '*', path: 'batch' as const, source: 's' }
    return model('stt', { benchmarks: [{ ...figure, value, asOf: '2026' }] })
  }
  const all = bench([
    provider('first', [rtf(0.01)], { stt: stt('first', 2500) }),
    provider('second', [rtf(0.5)], { stt: stt('second', 100) }),
  ])
  const row = all.catalog.find('stt', 'first', 'm')
  if (!row) throw new Error('no row')
  for (let i = 0; i < 20; i++) all.health.begin(row, 'batch')?.succeeded({ realTimeFactor: 0.1 })
  const answer = createTranscribe({ ...all.deps, hedges: true })({
    ...order({ operation: 'createTranscription' }),
    routing: { mode: 'auto', objective: 'latency' },
    recording: {
      bytes: [],
      durationMs: 10_000,
      format: { container: 'wav', encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 },
    } as never,
  })
  await settled()
  await all.clock.advance(1200)
  t.match(await answer, { route: { provider: 'second' } })
  t.same(asked, ['first at 0', 'second at 1000'])
})
