/**
 * Tests on a test clock what happens if a provider stops working: how soon the router stops using the provider, how
 * many requests the provider still gets, and how soon the router uses it again.
 */
import t from 'tap'
import { Health } from '../../domain/health/health.ts'
import type { LlmEvent } from '../../domain/ports/llm.ts'
import type { Model } from '../../domain/ports/model.ts'
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import { Chooser } from '../../domain/routing/chooser.ts'
import { TestClock } from '../clock.ts'
import { generateItems } from './fake-llm.ts'
import { bench, collect, failure, hang, model, order, provider, theEnd } from './fakes.ts'

/** The configuration's defaults for circuits. */
const circuit = { failuresMax: 3, openMs: 2000, openMaxMs: 8000, retryAfterMaxMs: 60_000 }
const credential = { ...circuit, failuresMax: 1 }

/** Makes a model with this published pass rate in benchmarks. */
function rated(id: string, passRate: number): Model {
  const figure = { metric: 'pass_rate_pct', value: passRate, unit: 'percent', language: '*', path: 'stream' as const }
  return model('llm', { id, benchmarks: [{ ...figure, source: 's', asOf: '2026' }] })
}

type How = ErrorClass | 'hang' | 'breaks off'

/** Sets up a router for which `first` is the best provider until it stops working. Every request takes 200 ms. */
function world(models: number, attemptsMax: number) {
  const state: { dead: How | null } = { dead: null }
  const calls: { pin: string; atMs: number; died: boolean }[] = []
  const flight = { now: 0, most: 0 }
  const clock = new TestClock()
  const adapter = (id: string) => ({
    respond: () => hang<never>(),
    stream: ({ model }: { model: string }, signal: CancelSignal) =>
      answer(`${id}/${model}`, id === 'first' ? state.dead : null, signal),
  })
  async function* answer(pin: string, how: How | null, signal: CancelSignal): AsyncGenerator<LlmEvent> {
    const isFirst = pin.startsWith('first')
    calls.push({ pin, atMs: clock.monotonicMs(), died: how !== null })
    if (isFirst) flight.now += 1
    flight.most = Math.max(flight.most, flight.now)
    try {
      if (how === 'hang') return await ended(signal)
      if (how !== 'unreachable') await new Promise<void>((resolve) => clock.after(200, resolve))
      if (how === 'breaks off') yield { type: 'text', delta: 'Hel' }
      if (how !== null) throw failure(how === 'breaks off' ? 'protocol' : how, how !== 'unreachable')
      yield { type: 'text', delta: 'Hello' }
      yield theEnd
    } finally {
      if (isFirst) flight.now -= 1
    }
  }
  const first = Array.from({ length: models }, (_, i) => rated(`m${i}`, 90 - i))
  const providers = [
    provider('first', first, { llm: adapter('first') }),
    provider('second', [rated('m', 50)], { llm: adapter('second') }),
  ]
  const all = bench(providers)
  const health = new Health(clock, { model: circuit, credential })
  const chooser = new Chooser({ catalog: all.catalog, health, testProviders: new Set() })
  const limits = { ...all.deps.limits.llm, attemptsMax, firstByteMs: 1000 }
  const generate = generateItems({ ...all.deps, clock, health, chooser, limits: { ...all.deps.limits, llm: limits } })
  const outcomes: { atMs: number; ok: boolean }[] = []
  const request = async () => {
    const atMs = clock.monotonicMs()
    let ok = true
    try {
      const { events } = await generate.stream({
        ...order({
          requestId: `req_${outcomes.length}`,
          key: { keyDigest: `${outcomes.length} ${atMs}`, contentHash: '' },
        }),
        routing: { mode: 'auto', objective: 'balanced' },
        request: { items: [], maxOutputTokens: 10, tools: [] },
      })
      const { error } = await collect(events)
      ok = error === null
    } catch {
      ok = false
    }
    outcomes.push({ atMs, ok })
  }
  /** Sends a request every `everyMs`, so several run at a time. */
  const traffic = async (forMs: number, everyMs: number) => {
    for (let at = 0; at < forMs; at += everyMs) {
      void request()
      await clock.advance(everyMs)
    }
  }
  return { state, calls, flight, clock, outcomes, traffic, health }
}

function ended(signal: CancelSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(failure('cancelled'))))
}

const causes: How[] = ['unreachable', 'server', 'hang', 'overloaded', 'breaks off']
for (const cause of causes)
  for (const models of [1, 4])
    for (const attemptsMax of [1, 4])
      t.test(`${cause}, ${models} models, ${attemptsMax} attempts: a dead provider fails few requests`, async (t) => {
        const { state, calls, flight, clock, outcomes, traffic } = world(models, attemptsMax)
        const toFirst = (from: number) => calls.filter(({ pin, atMs }) => pin.startsWith('first') && atMs >= from)

        await traffic(10_000, 500)
        t.ok(calls.every(({ pin }) => pin === 'first/m0'))
        const diedMs = clock.monotonicMs()
        state.dead = cause
        // The interval is longer than a time-out, so each request knows the previous request's result.
        await traffic(20_000, 1500)
        const failed = outcomes.filter(({ atMs, ok }) => atMs >= diedMs && !ok)
        const before = failed.filter(({ atMs }) => atMs < diedMs + 3 * 1500)
        t.ok(before.length <= 3, `${before.length} requests failed before it was left`)
        t.ok(
          toFirst(diedMs + 3 * 1500).length <= 8,
          'after that it is asked only to find out whether it is back, at growing intervals',
        )

        flight.most = 0
        const callsBefore = toFirst(diedMs).length
        await traffic(20_000, 100)
        t.ok(flight.most <= 1, 'one probe at a time, however many requests there are')
        const probes = toFirst(diedMs).length - callsBefore
        t.ok(probes >= 2 && probes <= 4, `${probes} probes in 20 s`)

        state.dead = null
        const backMs = clock.monotonicMs()
        await traffic(12_000, 100)
        const served = toFirst(backMs).find(({ died }) => !died)
        t.ok(served && served.atMs - backMs <= 10_000, 'the provider is tried again')
        const share = calls.filter(({ atMs }) => atMs > backMs + 10_000)
        t.ok(
          share.length > 0 && share.every(({ pin }) => pin === 'first/m0'),
          'and within 10 s it serves as it did before',
        )
      })

t.test(
  "if one model fails, its provider's circuit stays closed, and the provider's other models are tried last",
  async (t) => {
    const { health, clock } = world(2, 1)
    const catalog = bench([provider('only', [rated('failing', 90), rated('well', 80)])]).catalog
    const row = (id: string) => catalog.find('llm', 'only', id) ?? t.fail('no row')
    const [failing, well] = [row('failing'), row('well')]
    if (typeof failing === 'boolean' || typeof well === 'boolean') return
    for (let i = 0; i < 3; i++) health.begin(failing, 'stream')?.failed(failure('server'))
    t.match(health.blocked(failing), { reason: 'circuit_open' })
    t.equal(health.blocked(well), null)
    t.ok(health.suspects(well.provider), 'the provider comes after every other provider')

    const finding = health.begin(well, 'stream')
    t.match(health.blocked(well), { reason: 'circuit_open' }, 'one at a time')
    finding?.failed(failure('auth'))
    t.notOk(health.suspects(well.provider), 'a refusal is an answer')

    await clock.advance(2000)
    health.begin(failing, 'stream')?.failed(failure('server'))
    for (let i = 0; i < 3; i++) health.begin(well, 'stream')?.failed(failure('server'))
    t.match(health.blocked(well), { reason: 'circuit_open' })
    t.end()
  },
)
