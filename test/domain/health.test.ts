import t from 'tap'
import { Catalog, type Row } from '../../domain/catalog/catalog.ts'
import { AttemptSignal, providerError } from '../../domain/dispatch/attempt-signal.ts'
import { Health } from '../../domain/health/health.ts'
import { type ErrorClass, errorClasses } from '../../domain/ports/provider-error.ts'
import { TestClock } from '../clock.ts'
import { failure, hang, healthLimits, model, provider } from './fakes.ts'

function setup(areSeveral = false) {
  const clock = new TestClock()
  const health = new Health(clock, healthLimits, () => areSeveral)
  const catalog = new Catalog([provider('a', [model('llm'), model('stt')]), provider('b', [model('llm')])])
  const row = (stage: 'llm' | 'stt', id: string): Row => {
    const found = catalog.find(stage, id, 'm')
    if (!found) throw new Error('no row')
    return found
  }
  const fail = (which: Row, errorClass: ErrorClass = 'server', retryAfterS?: number) =>
    health.begin(which, 'stream')?.failed(failure(errorClass, true, retryAfterS))
  return { clock, health, fail, llm: row('llm', 'a'), stt: row('stt', 'a'), other: row('llm', 'b') }
}

function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  )
}

t.test("three failures in a row open only the failing model's circuit", (t) => {
  const { health, fail, llm, stt, other } = setup()
  fail(llm)
  fail(llm)
  health.begin(llm, 'stream')?.succeeded({})
  fail(llm)
  fail(llm)
  t.equal(health.blocked(llm), null, 'a success in between starts the count anew')
  fail(llm)
  t.same(health.blocked(llm), { reason: 'circuit_open', retryAfterMs: 5000 })
  t.equal(health.begin(llm, 'stream'), null)
  t.equal(health.blocked(stt), null)
  t.equal(health.blocked(other), null)
  t.end()
})

t.test('empty answers to one organization open no circuit, because its requests may cause them', (t) => {
  const { health, llm } = setup(true)
  const empty = (organizationId: string) => health.begin(llm, 'stream', null, organizationId)?.failed(failure('empty'))
  health.begin(llm, 'stream', null, 'org_a')?.succeeded({})
  for (let i = 0; i < 10; i++) empty('org_b')
  t.equal(health.blocked(llm), null)
  empty('org_a')
  health.begin(llm, 'stream', null, 'org_a')?.succeeded({})
  for (let i = 0; i < 10; i++) empty('org_b')
  t.equal(health.blocked(llm), null, 'a success begins anew')
  for (const organizationId of ['org_a', 'org_b', 'org_a']) empty(organizationId)
  t.equal(health.blocked(llm)?.reason, 'circuit_open', 'empty answers for two organizations are a failing model')
  t.end()
})

t.test('on a server with one organization, empty answers open the circuit', (t) => {
  const { health, llm } = setup()
  for (let i = 0; i < 3; i++) health.begin(llm, 'stream', null, 'org_a')?.failed(failure('empty'))
  t.equal(health.blocked(llm)?.reason, 'circuit_open')
  t.end()
})

t.test('each error class opens the circuit of the credential or of the model, or no circuit', (t) => {
  for (const errorClass of Object.keys(errorClasses) as ErrorClass[]) {
    const { health, fail, llm, stt } = setup()
    for (let i = 0; i < 3; i++) fail(llm, errorClass)
    const wanted =
      errorClass === 'auth' || errorClass === 'quota'
        ? ['credential_cooling', 'credential_cooling']
        : ['bad_request', 'unsupported', 'cancelled'].includes(errorClass)
          ? [undefined, undefined]
          : ['circuit_open', undefined]
    t.same([health.blocked(llm)?.reason, health.blocked(stt)?.reason], wanted, errorClass)
  }
  t.end()
})

t.test('a full queue of this server does not count against a provider', (t) => {
  const { health, llm } = setup()
  for (let i = 0; i < 10; i++) health.begin(llm, 'stream')?.failed(failure('overloaded', false, 1))
  t.equal(health.blocked(llm), null)
  t.equal(health.figures(llm, 'stream'), null)
  t.end()
})

t.test('an error in this server does not count against a provider', (t) => {
  const { health, llm } = setup()
  for (let i = 0; i < 10; i++) health.begin(llm, 'stream')?.failed(providerError(new TypeError('x')))
  t.equal(health.blocked(llm), null)
  t.equal(health.figures(llm, 'stream'), null)
  t.end()
})

t.test('a half-open circuit admits one probe at a time until one succeeds', async (t) => {
  const { clock, health, fail, llm } = setup()
  for (let i = 0; i < 3; i++) fail(llm)
  const whileOpen = health.version()
  await clock.advance(4999)
  t.equal(health.version(), whileOpen)
  await clock.advance(1)
  t.not(health.version(), whileOpen, 'time alone moves the version')
  t.equal(health.blocked(llm), null)

  const probe = health.begin(llm, 'stream')
  t.ok(probe)
  t.equal(health.begin(llm, 'stream'), null, 'no second probe')
  probe?.failed(failure('bad_request'))
  const second = health.begin(llm, 'stream')
  t.ok(second, 'a probe that says nothing makes room for the next')
  second?.failed(failure('server'))
  t.same(health.blocked(llm), { reason: 'circuit_open', retryAfterMs: 10_000 }, 'twice as long')

  for (let openMs = 10_000; openMs < 60_000; openMs *= 2) {
    await clock.advance(openMs)
    fail(llm)
  }
  t.equal(health.blocked(llm)?.retryAfterMs, 60_000, 'up to the bound')
  await clock.advance(60_000)
  const third = health.begin(llm, 'stream')
  third?.alive()
  t.ok(health.begin(llm, 'stream'), 'first media lets others in')
  third?.failed(failure('protocol'))
  t.equal(health.blocked(llm)?.retryAfterMs, 60_000, 'on trial: one that opens well and breaks off is left again')
  await clock.advance(60_000)
  const fourth = health.begin(llm, 'stream')
  fourth?.alive()
  fourth?.succeeded({})
  fail(llm)
  t.equal(health.blocked(llm), null, 'a success starts from closed')
})

t.test('streams that open and always break off open the circuit', (t) => {
  const { health, llm } = setup()
  for (let i = 0; i < 3; i++) {
    const permit = health.begin(llm, 'stream')
    permit?.alive()
    permit?.failed(failure('protocol'))
    permit?.failed(failure('protocol'))
  }
  t.equal(health.blocked(llm)?.reason, 'circuit_open')
  t.end()
})

t.test('a half-open circuit ignores the failure of an attempt that began before the circuit opened', async (t) => {
  const { clock, health, fail, llm } = setup()
  const [early, late] = [health.begin(llm, 'stream'), health.begin(llm, 'stream')]
  for (let i = 0; i < 3; i++) fail(llm)
  await clock.advance(5000)
  const probe = health.begin(llm, 'stream')
  early?.failed(failure('cancelled'))
  t.equal(health.blocked(llm)?.reason, 'circuit_open', 'the probe is still the only one')
  late?.succeeded({})
  t.equal(health.blocked(llm), null)
  probe?.failed(failure('server'))
  t.equal(health.blocked(llm), null)
})

t.test('a model whose provider requests a pause gets no requests in the pause, up to a longest pause', async (t) => {
  for (const errorClass of ['rate_limited', 'overloaded'] as const) {
    const { clock, health, fail, llm, stt, other } = setup()
    fail(llm, errorClass, 30)
    t.same(health.blocked(llm), { reason: 'circuit_open', retryAfterMs: 30_000 }, errorClass)
    t.same([health.blocked(stt), health.blocked(other)], [null, null], 'only that model is blocked')
    await clock.advance(29_999)
    t.equal(health.begin(llm, 'stream'), null)
    await clock.advance(1)
    const probe = health.begin(llm, 'stream')
    t.ok(probe)
    probe?.failed(failure(errorClass, true, 2))
    t.equal(health.blocked(llm)?.retryAfterMs, 60_000, 'after a failed probe at least twice the pause')
    await clock.advance(60_000)
    health.begin(llm, 'stream')?.succeeded({})
    fail(llm, errorClass, 86_400)
    t.equal(health.blocked(llm)?.retryAfterMs, 60_000, 'a day is more than the bound')
    fail(other, errorClass, 0)
    t.equal(health.blocked(other), null, 'no time')
  }
  const clock = new TestClock()
  const health = new Health(clock, { ...healthLimits, model: { ...healthLimits.model, retryAfterMaxMs: 0 } })
  const { llm } = setup()
  health.begin(llm, 'stream')?.failed(failure('rate_limited', true, 30))
  t.equal(health.blocked(llm), null, 'with a bound of 0 Retry-After is not obeyed')
})

t.test("a model's live figures need enough samples, follow new samples, and expire", async (t) => {
  const { clock, health, llm } = setup()
  const succeed = (firstByteMs: number) => health.begin(llm, 'stream')?.succeeded({ firstByteMs })
  succeed(100)
  succeed(100)
  t.equal(health.figures(llm, 'stream'), null)
  succeed(100)
  t.match(health.figures(llm, 'stream'), { firstByteMs: 100, errorRate: 0, realTimeFactor: null })
  t.equal(health.figures(llm, 'batch'), null, 'of this path only')

  const version = health.version()
  succeed(101)
  t.equal(health.version(), version, 'noise does not move the version')
  for (let i = 0; i < 20; i++) succeed(400)
  t.not(health.version(), version)
  const figures = health.figures(llm, 'stream')
  t.ok(figures?.firstByteMs && figures.firstByteMs > 250 && figures.firstByteMs < 400)

  await clock.advance(300_000)
  for (let i = 0; i < 20; i++) succeed(100)
  t.ok((health.figures(llm, 'stream')?.firstByteMs ?? 0) < 200, 'older samples weigh less')
  health.begin(llm, 'stream')?.failed(failure('timeout'))
  health.begin(llm, 'stream')?.failed(failure('timeout'))
  t.ok((health.figures(llm, 'stream')?.errorRate ?? 0) > 0.04)
  await clock.advance(600_000)
  health.version()
  t.equal(health.figures(llm, 'stream'), null)
})

t.test('an attempt ends at its deadline, when its client leaves, and at the total time limit', (t) => {
  const start = (firstByteMs = 1000, totalDueMs = 10_000) => {
    const clock = new TestClock()
    const client = new AbortController()
    return { clock, client, call: new AttemptSignal(clock, client.signal, firstByteMs, totalDueMs) }
  }

  t.test('an attempt rejects at its deadline even if the adapter ignores its signal', async (t) => {
    const { clock, call } = start()
    const waiting = call.guard(hang())
    void waiting.catch(() => {})
    await clock.advance(1000)
    t.match(await thrown(waiting), { errorClass: 'timeout' })
    t.ok(call.abortSignal.aborted)
    t.equal(clock.timers, 0)
  })

  t.test('an attempt ends when its client leaves, and at once if the client has already left', async (t) => {
    const { client, call, clock } = start()
    const waiting = call.guard(hang())
    void waiting.catch(() => {})
    client.abort()
    t.match(await thrown(waiting), { errorClass: 'cancelled' })
    t.match(await thrown(new AttemptSignal(clock, client.signal, 1000, 1000).guard(hang())), {
      errorClass: 'cancelled',
    })
    t.equal(clock.timers, 0)
  })

  t.test('an attempt times out if the provider pauses too long, but not if the reader pauses', async (t) => {
    const { clock, call } = start()
    call.rest()
    await clock.advance(5000)
    t.notOk(call.abortSignal.aborted)
    for (let i = 0; i < 50; i++) {
      call.expect(2000)
      call.rest()
    }
    t.equal(clock.timers, 1, 'an item costs no timer')
    call.expect(2000)
    await clock.advance(1999)
    t.notOk(call.abortSignal.aborted)
    await clock.advance(1)
    t.ok(call.abortSignal.aborted)
  })

  t.test('an attempt without a deadline ends at the total time limit', async (t) => {
    const { clock, call } = start()
    const ended: unknown[] = []
    call.onEnd((error) => ended.push(error.errorClass))
    call.rest()
    await clock.advance(10_000)
    t.same(ended, ['timeout'])
  })

  t.test('an error without a class from an adapter counts as a protocol error', async (t) => {
    const { call } = start()
    t.match(await thrown(call.guard(Promise.reject(new TypeError('x')))), { errorClass: 'protocol' })
  })

  t.test('a closed attempt is not aborted by its client or by a time limit', async (t) => {
    const { clock, client, call } = start()
    call.close()
    client.abort()
    await clock.advance(20_000)
    t.notOk(call.abortSignal.aborted)
    t.equal(clock.timers, 0)
  })
  t.end()
})
