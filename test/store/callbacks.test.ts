/**
 * The database rows for callbacks: row level security, pages, their events, and several processes that look for due
 * callbacks.
 */
import t, { type Test } from 'tap'
import { Callbacks, type PlaceCallback } from '../../domain/callbacks/callbacks.ts'
import type { CallbackStore } from '../../domain/callbacks/store.ts'
import type { Call } from '../../domain/records/call.ts'
import type { Callback } from '../../domain/records/callback.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { ResourceFault } from '../../domain/records/resource-fault.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import type { Store } from '../../store/store.ts'
import { callbackOf, hourMs, minuteMs, promised } from '../callbacks/callback.ts'
import { newCall, newEvent, newTurn } from '../calls/call.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { hold } from './held.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** Returns the fault's data if the work rejects. */
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Fault | ResourceFault) => error.data,
  )

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const placed = { sessionId: systemIds.session(), phoneNumberId: 'pn_1', fromNumber: '+12025550143' }

/** Opens a database with `count` processes, their clock, and an organization's call. */
async function setUp(test: Test, processes = 1) {
  const url = await cluster.database()
  const clock = storeClock()
  const stores = [await cluster.store(test, url, { clock })]
  while (stores.length < processes) stores.push(await cluster.store(test, url, { clock }))
  const [store] = stores as [Store]
  const call = newCall((await organization(store, 'a')).id)
  await store.calls.insert(call, {})
  const process = (place: PlaceCallback, at = 0) =>
    new Callbacks({ store: stores[at]!.callbacks, place, clock, log, leaseId: systemIds.session })
  const promise = async (of: Call, more: Partial<Callback> = {}) => {
    const callback = callbackOf(of, { scheduledAtMs: clock.nowMs() + hourMs, ...more }, clock.nowMs())
    const due = { ...callback, nextTryAtMs: callback.scheduledAtMs }
    t.same(await store.calls.append(of, of.id, [promised(due)]), [])
    return due
  }
  const events = async (of: Call = call) =>
    (await store.callRecord.events(of, of.id, 0))
      .filter(({ type }) => type.startsWith('callback.'))
      .map(({ type, failureCause }) => [type.replace('callback.', ''), failureCause].filter(Boolean).join(' '))
  return { url, clock, store, stores, call, process, promise, events }
}

t.test("row level security shows only one organization's live or test rows", async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const [a, b] = [await organization(store, 'a'), await organization(store, 'b')]
  for (const owner of [a.id, b.id])
    for (const test of [true, false]) {
      const call = newCall(owner, { test })
      await store.calls.insert(call, {})
      await store.calls.append(call, call.id, [promised(callbackOf(call))])
    }
  const host = new URL(url).searchParams.get('host') ?? ''
  const sql = connectOnce({ socketDir: host, role: 'parley', database: new URL(url).pathname.slice(1) }, 'policy')
  t.teardown(() => sql.end({ timeout: 1 }))
  const seen = (id: string, world: string) =>
    sql.begin(async (tx) => {
      await tx`select set_config('app.organization', ${id}, true), set_config('app.world', ${world}, true)`
      return tx<{ owner: string; test: boolean }[]>`select organization_id as owner, test from callbacks`
    })
  t.same(await seen(a.id, 'test'), [{ owner: a.id, test: true }])
  t.same(await seen(b.id, 'live'), [{ owner: b.id, test: false }])
  t.same(await seen(a.id, ''), [])
  t.equal((await seen('*', '*')).length, 4)
})

t.test("a callback is stored once with its event, and the session's next callback replaces it", async (t) => {
  const { store, clock, call, promise, events } = await setUp(t)
  const first = callbackOf(call, { reason: 'a\0b' }, clock.nowMs())
  const entry = promised(first)
  t.same(await store.calls.append(call, call.id, [entry]), [])
  t.same(await store.calls.append(call, call.id, [entry]), [], 'written again after a lost answer')
  t.match(await store.callbacks.find(call, first.id), {
    callback: { status: 'scheduled', reason: 'a\uFFFDb', toNumber: first.toNumber },
    metadata: call.metadata,
    pipeline: { systemPrompt: 'Be brief.' },
    summary: null,
  })
  await clock.leap(1)
  const second = await promise(call)
  t.match(await store.callbacks.find(call, first.id), { callback: { status: 'cancelled' } })
  t.match(await store.callbacks.ofSession(call, call.id), { callback: { id: second.id, status: 'scheduled' } })
  t.same((await events()).sort(), ['cancelled', 'scheduled', 'scheduled'])
  const [replaced] = (await store.callRecord.events(call, call.id, 0)).filter(
    ({ type }) => type === 'callback.cancelled',
  )
  t.same(replaced?.payload, { callback_id: first.id, reason: 'replaced' })
})

t.test("a call report's outcome is callback_scheduled unless the call's last callback was cancelled", async (t) => {
  const { store, clock, call, process, promise } = await setUp(t)
  const first = await promise(call, { scheduledAtMs: clock.nowMs() + minuteMs })
  await clock.leap(minuteMs)
  await process(() => Promise.resolve(placed)).dispatchDue()
  t.match(await store.callbacks.find(call, first.id), { callback: { status: 'dispatched' } })
  const last = await promise(call)
  await process(() => Promise.resolve(placed)).cancel(call, last.id, null)
  const started = newEvent('call.in_progress', { status: 'in_progress' })
  const change = { startedAtMs: started.occurredAtMs }
  await store.calls.append(call, call.id, [{ kind: 'move', event: started, to: 'in_progress', change }])
  await store.calls.append(call, call.id, [{ kind: 'turn', turn: newTurn() }])
  const ended = newEvent('call.completed', { status: 'completed' })
  const end = { endedAtMs: ended.occurredAtMs, endReason: 'user_hangup' as const }
  await store.calls.append(call, call.id, [{ kind: 'move', event: ended, to: 'completed', change: end }])
  t.match(await store.reports.find(call, call.id), { outcome: 'completed' })
})

t.test('two callbacks due at the same time are ordered by id over two pages', async (t) => {
  const { store, clock, call } = await setUp(t)
  const atMs = clock.nowMs()
  const made: string[] = []
  for (let at = 0; at < 7; at++) {
    const other = newCall(call.organizationId)
    await store.calls.insert(other, {})
    const callback = callbackOf(other, {}, at < 5 ? atMs : atMs - 1)
    await store.calls.append(other, other.id, [promised(callback)])
    made.push(callback.id)
  }
  for (const limit of [1, 2, 3, 7, 100]) {
    const seen: string[] = []
    let after: Parameters<typeof store.callbacks.list>[3] = null
    let pages = 0
    do {
      const page = await store.callbacks.list(call, {}, limit, after)
      t.ok(page.callbacks.length <= limit)
      seen.push(...page.callbacks.map(({ callback }) => callback.id))
      after = page.next
      pages += 1
    } while (after !== null)
    t.equal(pages, Math.ceil(7 / limit))
    t.same([...seen].sort(), [...made].sort(), `each once in pages of ${limit}`)
    t.same(seen.slice(-2).sort(), made.slice(-2).sort(), 'the oldest last')
  }
  const only = await store.callbacks.list(call, { status: 'cancelled' }, 10, null)
  t.same(only, { callbacks: [], next: null })
})

t.test('if two processes look for due callbacks at once, each callback is placed once', async (t) => {
  const { store, clock, call, process, promise } = await setUp(t, 2)
  const calls: Call[] = []
  for (let at = 0; at < 25; at++) {
    const other = newCall(call.organizationId, { test: at % 2 === 0 })
    await store.calls.insert(other, {})
    await promise(other)
    calls.push(other)
  }
  const made: string[] = []
  const place: PlaceCallback = async ({ id }) => {
    made.push(id)
    await new Promise(setImmediate)
    return placed
  }
  const [here, there] = [process(place, 0), process(place, 1)]
  await Promise.all([here.dispatchDue(), there.dispatchDue()])
  t.same(made, [], 'none is due')
  await clock.leap(hourMs)
  for (let looks = 0; looks < 4; looks++) await Promise.all([here.dispatchDue(), there.dispatchDue()])
  t.equal(made.length, 25)
  t.equal(new Set(made).size, 25)
  for (const other of calls)
    t.match(await store.callbacks.ofSession(other, other.id), {
      callback: { status: 'dispatched', createdSessionId: placed.sessionId, fromNumber: placed.fromNumber },
    })
})

t.test('if the lease of a dead process has expired, another process takes over its callback', async (t) => {
  const { store, clock, call, process, promise, events } = await setUp(t, 2)
  const callback = await promise(call)
  await clock.leap(hourMs)
  let settle: (placing: typeof placed) => void = () => {}
  const dead = process(() => new Promise((resolve) => void (settle = resolve)), 0)
  const looking = dead.dispatchDue()
  while ((await store.callbacks.find(call, callback.id))?.callback.status !== 'dispatching')
    await new Promise(setImmediate)
  const made: string[] = []
  const next = process(({ id }) => Promise.resolve((made.push(id), placed)), 1)
  await clock.leap(29_999)
  await next.dispatchDue()
  t.same(made, [], 'the lease holds')
  await clock.leap(1)
  await next.dispatchDue()
  t.same(made, [callback.id])
  settle({ ...placed, sessionId: systemIds.session() })
  await looking
  t.match(await store.callbacks.find(call, callback.id), {
    callback: { status: 'dispatched', tries: 2, createdSessionId: placed.sessionId },
  })
  t.same(await events(), ['scheduled', 'dispatching', 'dispatching', 'dispatched'], 'the late answer changes nothing')
})

t.test('a callback fails after four tries if its organization has no phone number', async (t) => {
  const { store, clock, call, process, promise, events } = await setUp(t)
  const { id } = await promise(call)
  const without = process(() => Promise.resolve({ failure: 'no_phone_number' }))
  const tries: number[] = []
  for (let minute = 0; minute <= 80; minute++) {
    const before = (await store.callbacks.find(call, id))?.callback.tries
    await without.dispatchDue()
    const after = (await store.callbacks.find(call, id))?.callback.tries
    if (before !== after) tries.push(minute - 60)
    await clock.leap(minuteMs)
  }
  t.same(tries, [0, 1, 5, 15])
  t.match(await store.callbacks.find(call, id), { callback: { status: 'failed', failureCause: 'no_phone_number' } })
  const attempt = ['dispatching', 'scheduled no_phone_number']
  t.same(await events(), ['scheduled', ...attempt, ...attempt, ...attempt, 'dispatching', 'failed no_phone_number'])
})

t.test('a callback that no process has placed an hour after its due time fails as missed', async (t) => {
  const { store, clock, call, process, promise } = await setUp(t)
  const { id } = await promise(call)
  await clock.leap(2 * hourMs + 1)
  await process(() => Promise.reject(new Error('not to be made'))).dispatchDue()
  t.match(await store.callbacks.find(call, id), {
    callback: { status: 'failed', failureCause: 'missed', attemptedAtMs: null },
  })
})

t.test('if placing a callback throws an error, the attempt counts as failed', async (t) => {
  const { store, clock, call, process, promise } = await setUp(t)
  const { id } = await promise(call)
  await clock.leap(hourMs)
  await process(() => Promise.reject(new Error('broken'))).dispatchDue()
  t.match(await store.callbacks.find(call, id), { callback: { status: 'scheduled', failureCause: 'carrier_error' } })
})

t.test('a callback can be dispatched before its due time, and stays scheduled after a failure', async (t) => {
  const { call, process, promise } = await setUp(t)
  const { id, scheduledAtMs } = await promise(call)
  for (const [failure, fault] of [
    ['insufficient_credits', { kind: 'credit_too_low' }],
    ['concurrency', { kind: 'too_many_at_once' }],
    ['carrier_error', { kind: 'not_dialed', why: 'unavailable' }],
    ['no_phone_number', { kind: 'not_dialed', why: 'no_number' }],
  ] as const) {
    const callbacks = process(() => Promise.resolve({ failure }))
    t.match(await faultOf(callbacks.dispatch(call, id)), fault)
    t.match(await callbacks.get(call, id), {
      callback: { status: 'scheduled', failureCause: failure, tries: 0, nextTryAtMs: scheduledAtMs },
    })
  }
  const callbacks = process(() => Promise.resolve(placed))
  const both = await Promise.allSettled([callbacks.dispatch(call, id), callbacks.dispatch(call, id)])
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'one of two at once makes it')
  t.match(await callbacks.get(call, id), { callback: { status: 'dispatched', failureCause: null } })
  const notScheduled = { kind: 'callback_not_scheduled', status: 'dispatched' }
  t.match(await faultOf(callbacks.dispatch(call, id)), notScheduled)
  t.match(await faultOf(callbacks.cancel(call, id, null)), notScheduled)
})

t.test('if the database fails after a request has placed a callback, the request must not be repeated', async (t) => {
  const { store, clock, call, promise, process } = await setUp(t)
  const { id } = await promise(call)
  let isAway = false
  const made: string[] = []
  const place: PlaceCallback = (callback) => {
    isAway = true
    made.push(callback.id)
    return Promise.resolve(placed)
  }
  const change: CallbackStore['change'] = (...change) =>
    isAway
      ? Promise.reject(new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 }))
      : store.callbacks.change(...change)
  const deps = { store: { ...store.callbacks, change }, place, clock, log, leaseId: systemIds.session }
  const failed = new Callbacks(deps).dispatch(call, id)
  t.match(await failed.catch((error: unknown) => error), {
    kind: 'store_unreachable',
    detail: { isKeySpent: true, retryAfterS: 1 },
  })
  const again = process((callback) => Promise.resolve((made.push(callback.id), placed)))
  t.match(await faultOf(again.dispatch(call, id)), { kind: 'callback_not_scheduled', status: 'dispatching' })
  t.same(made, [id])
})

t.test("a callback's event is stored after an event that another transaction is storing", async (t) => {
  const { url, store, call, process, promise } = await setUp(t)
  const { id } = await promise(call)
  const [holder, watcher] = [cluster.sql(t, url), cluster.sql(t, url)]
  const laterMs = Date.now() + hourMs
  const later = `
    insert into call_events
      (organization_id, test, call_id, id, provider, type, occurred_at, created_at, payload)
    values ('${call.organizationId}', ${call.test}, '${call.id}', '${systemIds.session()}', 'service', 'call.ringing',
      now(), to_timestamp(${laterMs / 1000}), '{}')`
  const release = await hold(holder, `select from calls where id = '${call.id}' for update; ${later}`)
  const cancelled = process(() => Promise.resolve(placed)).cancel(call, id, null)
  const waits = () =>
    watcher`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  while ((await waits()).count === 0) await new Promise(setImmediate)
  await release()
  await cancelled
  const since = await store.callRecord.events(call, call.id, laterMs)
  t.same(since.map(({ type }) => type).sort(), ['call.ringing', 'callback.cancelled'])
})

t.test('a cancelled callback is never placed, even if other processes look for it meanwhile', async (t) => {
  const { store, clock, call, process, promise } = await setUp(t, 2)
  for (let round = 0; round < 10; round++) {
    const other = newCall(call.organizationId)
    await store.calls.insert(other, {})
    const { id } = await promise(other)
    await clock.leap(hourMs)
    const made: string[] = []
    const looking = process((callback) => Promise.resolve((made.push(callback.id), placed)), 1)
    const [cancel] = await Promise.allSettled([
      process(() => Promise.resolve(placed)).cancel(other, id, 'x'),
      looking.dispatchDue(),
    ])
    const status = (await store.callbacks.find(other, id))?.callback.status
    t.same([status, made], cancel.status === 'fulfilled' ? ['cancelled', []] : ['dispatched', [id]])
  }
})

t.test('creating, placing and cancelling callbacks simultaneously causes no deadlock', async (t) => {
  const { clock, call, process, promise, store } = await setUp(t, 3)
  const failing = [0, 1, 2].map((at) => process(() => Promise.resolve({ failure: 'concurrency' as const }), at))
  for (let round = 0; round < 15; round++) {
    const { id } = await promise(call, { scheduledAtMs: clock.nowMs() })
    await Promise.all([
      promise(call, { scheduledAtMs: clock.nowMs() }),
      ...failing.map((callbacks) => callbacks.dispatchDue()),
      failing[0]!.cancel(call, id, null).catch(() => null),
    ])
    await clock.leap(minuteMs)
  }
  const { callbacks } = await store.callbacks.list(call, {}, 100, null)
  t.equal(callbacks.length, 30)
})
