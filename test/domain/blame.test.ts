/** On a server with several organizations, the failures of one organization's requests do not count for the others. */
import t from 'tap'
import { Catalog, type Row } from '../../domain/catalog/catalog.ts'
import { AttemptSignal } from '../../domain/dispatch/attempt-signal.ts'
import { Health } from '../../domain/health/health.ts'
import { type ErrorClass, errorClasses, ProviderError } from '../../domain/ports/provider-error.ts'
import { TestClock } from '../clock.ts'
import { failure, healthLimits, model, provider } from './fakes.ts'

const { openMs } = healthLimits.model

function setup(owners = { areSeveral: true }) {
  const clock = new TestClock()
  const health = new Health(clock, healthLimits, () => owners.areSeveral)
  const catalog = new Catalog([provider('p', [model('llm'), model('stt')])])
  const row = (stage: 'llm' | 'stt'): Row => {
    const found = catalog.find(stage, 'p', 'm')
    if (!found) throw new Error('no row')
    return found
  }
  const [llm, stt] = [row('llm'), row('stt')]
  const begin = (organization: string, which = llm) => health.begin(which, 'stream', null, organization)
  const fail = (organization: string, errorClass: ErrorClass = 'server', retryAfterS?: number, which = llm) =>
    begin(organization, which)?.failed(failure(errorClass, true, retryAfterS))
  const waitOf = (organization: string, which = llm) => health.blocked(which, null, organization)?.retryAfterMs ?? null
  return { clock, health, begin, fail, waitOf, llm, stt }
}

/**
 * Two organizations fail in turns until the circuit is open for all organizations. `last` is the organization with the
 * last failure.
 */
function openForAll({ fail }: ReturnType<typeof setup>, first = 'a', last = 'b') {
  for (const organization of [first, last, first, last]) fail(organization)
}

t.test('failures of one organization open only the circuits of that organization, for each error class', (t) => {
  for (const errorClass of Object.keys(errorClasses) as ErrorClass[]) {
    const { begin, fail, health, llm, stt, waitOf } = setup()
    for (let i = 0; i < 10; i++) for (const which of [llm, stt]) fail('b', errorClass, undefined, which)
    t.same([waitOf('a'), waitOf('a', stt)], [null, null], errorClass)
    t.notOk(health.suspects(llm.provider), errorClass)
    t.ok(begin('a'), errorClass)
    const blames = !['bad_request', 'unsupported', 'cancelled', 'empty'].includes(errorClass)
    t.equal(waitOf('b') !== null, blames, `${errorClass}: its own requests go to other models`)
  }
  t.end()
})

t.test('waitingOrganizations counts organizations whose own circuits are open', async (t) => {
  const { clock, fail, health } = setup()
  const counts = () => [health.openCircuits('p'), health.waitingOrganizations('p')]
  const none = { model: 0, credential: 0 }
  t.same(counts(), [none, none])
  fail('a', 'auth')
  for (let i = 0; i < 3; i++) fail('b')
  t.same(counts(), [none, { model: 1, credential: 1 }])
  await clock.advance(healthLimits.credential.openMs + openMs)
  t.same(counts(), [none, none])
})

t.test('alternating failures of several organizations open the circuit for all', (t) => {
  const all = setup()
  openForAll(all)
  t.equal(all.waitOf('c'), openMs)
  t.equal(all.begin('c'), null)
  t.equal(all.health.blocked(all.llm)?.reason, 'circuit_open')
  t.end()
})

t.test('a circuit that opened before a second organization existed blocks only the first organization', (t) => {
  const owners = { areSeveral: false }
  const { begin, fail, health, llm, waitOf } = setup(owners)
  fail('b', 'rate_limited', 30)
  for (let i = 0; i < 3; i++) fail('b', 'server', undefined, llm)
  t.equal(waitOf('b'), 30_000)
  const version = health.version()
  owners.areSeveral = true
  t.not(health.version(), version, 'a choice that was kept is made again')
  t.equal(health.blocked(llm), null)
  t.equal(waitOf('b'), 30_000)
  begin('a')?.succeeded({})
  t.ok(begin('b'))
  t.end()
})

t.test('a success of any organization resets the failure count of all organizations', (t) => {
  const { begin, fail, waitOf } = setup()
  for (let i = 0; i < 20; i++) {
    fail(`b${i % 2}`)
    begin('a')?.succeeded({})
  }
  t.equal(waitOf('a'), null)
  t.end()
})

t.test('for one second a half-open circuit admits only probes of organizations without failures', async (t) => {
  const all = setup()
  openForAll(all)
  await all.clock.advance(openMs)
  t.same([all.waitOf('a'), all.waitOf('b')], [1000, 1000], 'the failing organizations wait')
  t.equal(all.begin('b'), null)
  const probe = all.begin('c')
  t.ok(probe)
  t.equal(all.begin('d'), null, 'one probe at a time')
  probe?.succeeded({})
  t.ok(all.begin('d'))
})

t.test('if no other organization sends a request, a failing organization may probe after one second', async (t) => {
  const all = setup()
  openForAll(all)
  await all.clock.advance(openMs + 999)
  t.equal(all.begin('b'), null)
  await all.clock.advance(1)
  t.ok(all.begin('b'))
})

t.test('a probe that hangs blocks only the organization that sent the probe', async (t) => {
  const all = setup()
  openForAll(all)
  await all.clock.advance(openMs + 1000)
  const hanging = all.begin('b')
  t.ok(hanging)
  t.equal(all.begin('b'), null)
  const probe = all.begin('c')
  t.ok(probe, 'an organization without failures takes over')
  hanging?.failed(failure('timeout'))
  t.equal(all.begin('d'), null, 'the failure of the former probe changes nothing')
  probe?.succeeded({})
  t.ok(all.begin('d'))
})

t.test('one organization alone cannot keep a circuit open for the others', async (t) => {
  const all = setup()
  openForAll(all)
  for (let i = 0; i < 20; i++) {
    await all.clock.advance(openMs)
    all.fail('b')
  }
  t.equal(all.waitOf('a'), null)
  all.begin('a')?.succeeded({})
  t.ok(all.begin('c'))
})

t.test("the first Retry-After pauses one organization; a second organization's Retry-After pauses all", (t) => {
  for (const errorClass of ['rate_limited', 'overloaded'] as const) {
    const { fail, waitOf } = setup()
    fail('b', errorClass, 30)
    t.same([waitOf('b'), waitOf('a')], [30_000, null], errorClass)
    fail('a', errorClass, 20)
    t.same([waitOf('b'), waitOf('a'), waitOf('c')], [20_000, 20_000, 20_000], errorClass)
  }
  t.end()
})

t.test("a Retry-After pauses an organization's own key at once, for exactly its time, and nothing else", async (t) => {
  for (const areSeveral of [true, false]) {
    const { clock, health, llm, stt, waitOf } = setup({ areSeveral })
    health.begin(llm, 'stream', 'key_b', 'b')?.failed(failure('rate_limited', true, 30))
    const ownWait = (row = llm) => health.blocked(row, 'key_b', 'b')?.retryAfterMs ?? null
    t.same([ownWait(), ownWait(stt)], [30_000, null])
    t.same([waitOf('a'), waitOf('b')], [null, null], 'the credential of the operator')
    t.equal(health.blocked(llm, 'key_a', 'a'), null, 'the key of another organization')
    await clock.advance(29_999)
    t.equal(ownWait(), 1)
    await clock.advance(1)
    t.equal(ownWait(), null)
    t.ok(health.begin(llm, 'stream', 'key_b', 'b'))
  }
})

t.test('if several organizations have failures with a model, the other models of its provider are still tried', (t) => {
  const { fail, health, llm, stt, waitOf } = setup()
  for (const organization of ['a', 'b', 'a', 'b']) fail(organization, 'unreachable')
  t.ok(health.suspects(llm.provider))
  t.equal(waitOf('c', stt), null, 'it is tried with another model')
  t.end()
})

t.test('repeated failures of one organization hardly change the error rate of a model', (t) => {
  const { begin, fail, health, llm } = setup()
  for (let i = 0; i < 20; i++) begin('a')?.succeeded({ firstByteMs: 100 })
  const version = health.version()
  for (let i = 0; i < 20; i++) fail('b')
  t.ok((health.figures(llm, 'stream')?.errorRate ?? 1) < 0.05)
  t.equal(health.version(), version, 'no ranking is computed again')
  t.end()
})

t.test('an empty answer that the request itself caused is not counted as a failure of the model', (t) => {
  const { begin, waitOf } = setup()
  const wished = new ProviderError('empty', { sent: true, isByCaller: true })
  for (let i = 0; i < 10; i++) for (const organization of ['a', 'b']) begin(organization)?.failed(wished)
  t.same([waitOf('a'), waitOf('b')], [null, null])
  t.end()
})

t.test('a timeout of a stream that its client does not read is not counted as a failure of the model', async (t) => {
  const { begin, clock, waitOf } = setup()
  for (let i = 0; i < 6; i++) {
    const permit = begin(i % 2 === 0 ? 'a' : 'b')
    const signal = new AttemptSignal(clock, new AbortController().signal, 1000, clock.monotonicMs() + 10_000)
    signal.onEnd((error) => permit?.failed(error))
    signal.rest()
    await clock.advance(10_000)
    t.match(signal.reason, { errorClass: 'timeout' })
  }
  t.same([waitOf('a'), waitOf('b')], [null, null])
})
