/** A live call's journal writes its entries to the store, in order, and also after an outage. */
import assert from 'node:assert/strict'
import t from 'tap'
import { applyEntries } from '../../domain/calls/apply.ts'
import { createJournal } from '../../domain/calls/journal.ts'
import type { CallStore } from '../../domain/calls/store.ts'
import type { CallLog } from '../../domain/conversation/parts/call-log.ts'
import type { Call, CallEvent, Turn } from '../../domain/records/call.ts'
import { Fault } from '../../domain/records/fault.ts'
import { type EndReason, endReasons, isTerminal, mayMove } from '../../domain/records/states/call.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { wanted } from '../callbacks/callback.ts'
import { TestClock } from '../clock.ts'
import { fc } from '../random.ts'
import { organization, silent, TestCluster } from '../store/cluster.ts'
import { transferOf } from '../transfers/transfer.ts'
import { newCall, newSpan, newTurn } from './call.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** Acts like the store, in memory, and fails as often as requested. */
function memoryStore(first: Call) {
  const state = {
    call: first,
    events: [] as CallEvent[],
    turns: [] as Turn[],
    spans: 0,
    reports: 0,
    failures: [] as ('before' | 'after')[],
  }
  const append: CallStore['append'] = (_tenant, _id, entries) => {
    const failure = state.failures.shift()
    const away = () => Promise.reject(new Fault({ kind: 'store_unreachable' }))
    if (failure === 'before') return away()
    const known = new Set(state.events.map(({ id }) => id))
    const applied = applyEntries(state.call, entries, (id) => known.has(id), Date.now())
    state.call = applied.call
    state.events.push(...applied.events)
    state.turns.push(...applied.turns.filter(({ id }) => !state.turns.some((turn) => turn.id === id)))
    if (applied.hasEnded && applied.call.endReason !== 'not_joined') state.reports += 1
    // The transaction was committed, but the answer was lost.
    return failure === 'after' ? away() : Promise.resolve(applied.refused)
  }
  return { state, append }
}

type Step = (log: CallLog) => unknown
const steps: Record<string, Step> = {
  connected: (log) => log.connected(),
  event: (log) => log.event('agent.failover', { stage: 'tts' }),
  callback: (log) => log.callback(wanted),
  user: (log) => log.turn(newTurn()),
  agent: (log) => log.turn(newTurn({ source: 'agent' })),
  span: (log) => log.span(newSpan()),
  recording: (log) => log.recording('recording', null),
  uploading: (log) => log.recording('uploading', null),
  ready: (log) => log.recording('ready', 1000),
  failed: (log) => log.recording('failed', null),
}

t.test('any sequence of call events leads to legal status changes, one final status and one call report', async () => {
  const anyStep = fc.oneof(
    fc.constantFrom(...Object.keys(steps)).map((name) => steps[name] as Step),
    fc.constantFrom<EndReason>(...endReasons).map((reason) => (log: CallLog) => void log.ended(reason)),
  )
  const failures = fc.array(fc.constantFrom('before' as const, 'after' as const), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 30 }), failures, async (run, away) => {
      const call = newCall('org_1')
      const { state, append } = memoryStore(call)
      state.failures = away
      const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0, after: soon }
      const ended: string[] = []
      const journal = createJournal({
        calls: { append },
        clock,
        log: silent,
        eventId: systemIds.session,
        callbackId: systemIds.callback,
        ended: (_tenant, id) => void ended.push(id),
      })
      const log = journal.open(call)
      for (const step of run) step(log)
      await log.ended('user_hangup')
      const statuses = state.events.filter(({ type }) => type.startsWith('call.')).map(({ type }) => type.slice(5))
      let status: string = call.status
      for (const next of statuses) {
        if (!mayMove(status as never, next as never)) throw new Error(`${status} → ${next}`)
        status = next
      }
      const times = state.events.map(({ occurredAtMs }) => occurredAtMs)
      assert.equal(status, state.call.status)
      assert.equal(statuses.filter((each) => isTerminal(each as never)).length, 1)
      assert.equal(state.reports, state.call.endReason === 'not_joined' ? 0 : 1)
      assert.deepEqual(
        state.turns.map(({ index }) => index),
        state.turns.map((_, at) => at),
      )
      assert.deepEqual(
        times,
        [...new Set(times)].sort((a, b) => a - b),
      )
      assert.deepEqual(ended, [call.id])
    }),
    { numRuns: 500 },
  )
})

function soon(_ms: number, run: () => void): () => void {
  const timer = setImmediate(run)
  return () => clearImmediate(timer)
}

for (const [way, setMs] of [
  ['forward', 3_600_000],
  ['back', -3_600_000],
] as const)
  t.test(`a clock that is set ${way} by an hour changes no duration and no order of events`, async (t) => {
    const call = newCall('org_1')
    const { state, append } = memoryStore(call)
    const time = { setMs: 0, monotonicMs: 0 }
    const clock = {
      nowMs: () => 1_790_000_000_000 + time.setMs + time.monotonicMs,
      monotonicMs: () => time.monotonicMs,
      after: soon,
    }
    const journal = createJournal({
      calls: { append },
      clock,
      log: silent,
      eventId: systemIds.session,
      callbackId: systemIds.callback,
      ended: () => {},
    })
    const log = journal.open(call)
    log.connected()
    time.monotonicMs = 1000
    log.event('room.created', {})
    time.setMs = setMs
    time.monotonicMs = 61_000
    await log.ended('user_hangup')
    t.equal((state.call.endedAtMs ?? 0) - (state.call.startedAtMs ?? 0), 61_000)
    t.same(
      state.events.slice(0, 3).map(({ occurredAtMs }) => occurredAtMs - 1_790_000_000_000),
      [0, 1000, 61_000],
    )
  })

t.test('events of a conversation during a database outage are stored afterwards', async (t) => {
  const call = newCall('org_1')
  const { state, append } = memoryStore(call)
  const clock = new TestClock()
  const journal = createJournal({
    calls: { append },
    clock,
    log: silent,
    eventId: systemIds.session,
    callbackId: systemIds.callback,
    ended: () => {},
  })
  const log = journal.open(call)
  log.connected()
  clock.pass(50)
  await settled()
  t.equal(state.call.status, 'in_progress')
  state.failures = Array.from({ length: 20 }, () => 'before' as const)
  for (let turn = 0; turn < 300; turn++) log.turn(newTurn())
  const end = log.ended('user_hangup')
  for (let ms = 0; ms < 5_000; ms += 250) {
    clock.pass(250)
    await settled()
    t.equal(state.turns.length, 0)
  }
  for (let tries = 0; tries < 4; tries++) {
    clock.pass(250)
    await settled()
  }
  await end
  t.equal(state.turns.length, 300)
  t.same([state.call.status, state.reports], ['completed', 1])
})

t.test("a completed transfer is stored even if the call's queue of unwritten entries is full", async (t) => {
  const call = newCall('org_1', { status: 'in_progress' })
  const { state, append } = memoryStore(call)
  const stored: string[] = []
  const clock = new TestClock()
  let isAway = true
  const journal = createJournal({
    calls: {
      append(tenant, id, entries) {
        if (isAway) return Promise.reject(new Fault({ kind: 'store_unreachable' }))
        stored.push(...entries.flatMap((entry) => (entry.kind === 'transfer' ? [entry.transfer.status] : [])))
        return append(tenant, id, entries)
      },
    },
    clock,
    log: silent,
    eventId: systemIds.session,
    callbackId: systemIds.callback,
    ended: () => {},
  })
  const log = journal.open(call)
  for (let entry = 0; entry < 10_100; entry++) log.event('agent.failover', { stage: 'tts' })
  log.transfer({ transfer: { ...transferOf(call), status: 'completed' }, nextTransferId: null })
  const end = log.ended('transferred')
  isAway = false
  for (let batch = 0; batch < 60; batch++) {
    clock.pass(250)
    await settled()
  }
  await end
  t.same(stored, ['completed'])
  t.equal(state.events.filter(({ type }) => type === 'agent.failover').length, 10_000, 'the others are bounded')
})

const settled = () => new Promise((resolve) => setTimeout(resolve, 5))

t.test('Postgres stores the events and turns of a call in the order in which the call appended them', async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id: organizationId } = await organization(store, 'a')
  const ended: string[] = []
  const journal = createJournal({
    calls: store.calls,
    clock: { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0, after: soon },
    log: silent,
    eventId: systemIds.session,
    callbackId: systemIds.callback,
    ended: (_tenant, id) => void ended.push(id),
  })
  const call = newCall(organizationId)
  await store.calls.insert(call, {})
  const log = journal.open(call)
  log.connected()
  log.event('room.created', {})
  log.event('room.agent_joined', {})
  for (let turn = 0; turn < 5; turn++) log.turn(newTurn({ text: `turn ${turn}` }))
  await Promise.all([log.ended('silence_timeout'), log.ended('user_hangup')])
  const events = await store.callRecord.events(call, call.id, 0)
  t.same(
    events.map(({ type }) => type),
    ['call.in_progress', 'room.created', 'room.agent_joined', 'call.completed', 'analysis.pending'],
  )
  t.match(events[3], { status: 'completed', payload: { end_reason: 'silence_timeout' } })
  t.same(
    (await store.callRecord.turns(call, call.id, -1)).map(({ index, text }) => `${index} ${text}`),
    [0, 1, 2, 3, 4].map((turn) => `${turn} turn ${turn}`),
  )
  t.same(ended, [call.id])

  const lost = newCall(organizationId)
  await store.calls.insert(lost, {})
  const lostLog = journal.open(lost)
  lostLog.connected()
  await store.calls.endUnowned(lost, lost.id, 'worker_lost')
  const over = await store.calls.endedAmong([call.id, lost.id, systemIds.session()])
  t.same(
    over.map(({ id, endReason }) => `${id} ${endReason}`).sort(),
    [`${call.id} silence_timeout`, `${lost.id} worker_lost`].sort(),
  )
  lostLog.turn(newTurn())
  await lostLog.ended('user_hangup')
  t.match(await store.calls.find(lost, lost.id), { status: 'failed', endReason: 'worker_lost' })
})
