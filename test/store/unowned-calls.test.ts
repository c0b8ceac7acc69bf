/** Claims on calls, and the ends of calls that no process owns. */
import t from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { connected } from '../calls/entries.ts'
import { until } from '../process/machine.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('a call that cannot be ended does not delay the ends of other calls', async (t) => {
  const clock = storeClock()
  const store = await cluster.store(t, await cluster.database(), { clock })
  const { id: organizationId } = await organization(store, 'a')
  const createdAtMs = clock.nowMs()
  const calls = [0, 1].map((at) =>
    newCall(organizationId, { createdAtMs: createdAtMs + at, expiresAtMs: createdAtMs + 5_000 }),
  )
  for (const call of calls) {
    await store.calls.insert(call, {})
    t.ok(await store.calls.claim(call, call.id, 'dead', null))
  }
  const salvage = (id: string) => {
    if (id === calls[0]!.id) throw new Error('the folder cannot be read')
    return Promise.resolve({ status: 'failed' as const })
  }
  await store.calls.endOrphans(salvage)
  await store.calls.endOrphans(salvage)
  const found = await Promise.all(calls.map((call) => store.calls.find(call, call.id)))
  t.same(
    found.map((call) => call?.endReason),
    [null, 'worker_lost'],
  )
})

t.test('a call can be claimed again after the claiming process has released the call', async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id: organizationId } = await organization(store, 'a')
  const call = newCall(organizationId)
  await store.calls.insert(call, {})
  const pipeline = {
    ...call.pipeline,
    systemPrompt: 'Of the page. \0',
    intent: { ...call.pipeline.intent, language: 'fr' },
  }
  t.ok(await store.calls.claim(call, call.id, 'one', pipeline))
  t.same((await store.calls.find(call, call.id))?.pipeline, pipeline)
  const { calls: listed } = await store.calls.list(call, {}, 1, null)
  t.equal(listed[0]?.language, 'fr')
  await store.calls.release(call, call.id, 'two')
  t.notOk(await store.calls.claim(call, call.id, 'two', null))
  await store.calls.release(call, call.id, 'one')
  t.ok(await store.calls.claim(call, call.id, 'two', null))
})

t.test('`endUnowned` ends calls that no process owns', async (t) => {
  const clock = storeClock()
  const store = await cluster.store(t, await cluster.database(), { clock })
  const { id: organizationId } = await organization(store, 'a')
  const createdAtMs = clock.nowMs()
  const make = async (more = {}) => {
    const call = newCall(organizationId, { createdAtMs, expiresAtMs: createdAtMs + 5_000, ...more })
    await store.calls.insert(call, {})
    return call
  }
  const statusOf = async (id: string) => {
    const call = await store.calls.find({ organizationId, test: false }, id)
    return call && [call.status, call.endReason]
  }

  await t.test('`endUnowned` cancels an unowned queued call, and writes its call report without an LLM', async (t) => {
    const call = await make()
    t.same(await store.calls.endUnowned(call, call.id, 'api_ended'), { state: 'ended_now' })
    t.same(await store.calls.endUnowned(call, call.id, 'api_ended'), {
      state: 'ended_before',
      endedAtMs: clock.nowMs(),
    })
    t.same(await statusOf(call.id), ['cancelled', 'api_ended'])
    t.match(await store.reports.find(call, call.id), { analysisStatus: 'heuristic', outcome: 'not_connected' })
    t.equal(await store.calls.endUnowned({ organizationId, test: true }, call.id, 'api_ended'), null)
  })

  await t.test('a session is claimed once, and never after its end', async (t) => {
    const call = await make()
    t.equal(await store.calls.claim(call, call.id, store.instanceId, null), true)
    t.equal(await store.calls.claim(call, call.id, 'another', null), false)
    t.equal(await store.calls.countLive(organizationId), 1)
    t.same(await store.calls.endUnowned(call, call.id, 'api_ended'), { state: 'owned' })
  })

  await t.test('a session that no client has joined is cancelled without a call report', async (t) => {
    const [call, joined] = [await make(), await make()]
    await store.calls.claim(joined, joined.id, store.instanceId, null)
    await clock.leap(5_000)
    await until('it is cancelled', async () => (await statusOf(call.id))?.[0] !== 'queued')
    t.same(await statusOf(call.id), ['cancelled', 'not_joined'])
    t.equal(await store.reports.find(call, call.id), null)
    t.same(await statusOf(joined.id), ['queued', null])
    t.equal(await store.calls.claim(call, call.id, store.instanceId, null), false)
  })

  await t.test('calls of a dead process end with a call report, and keep the recordings made so far', async (t) => {
    const salvaged = [
      { status: 'failed' },
      { status: 'ready', durationMs: 5000 },
      // The recording's file is on another machine, or is uploaded later.
      { status: 'uploading' },
    ] as const
    for (const left of salvaged) {
      const call = await make({ expiresAtMs: createdAtMs + 900_000 })
      t.equal(await store.calls.claim(call, call.id, 'dead', null), true)
      const at = clock.nowMs()
      const event = newEvent('recording.recording', { occurredAtMs: at })
      const recording: CallEntry = { kind: 'recording', event, status: 'recording', durationMs: null }
      await store.calls.append(call, call.id, [connected(at), recording])
      const alive = await make({ expiresAtMs: createdAtMs + 900_000 })
      await store.calls.claim(alive, alive.id, store.instanceId, null)
      const salvage = (id: string) => Promise.resolve(id === call.id ? left : { status: 'failed' as const })
      await store.calls.endOrphans(salvage)
      t.same(await statusOf(call.id), ['in_progress', null], 'its owner may only have been without the database')
      await store.calls.endOrphans(salvage)
      t.same(await statusOf(call.id), ['failed', 'worker_lost'])
      t.same(await statusOf(alive.id), ['queued', null])
      t.match(await store.reports.find(call, call.id), { analysisStatus: 'pending', outcome: 'failed' })
      const recordingDurationMs = left.status === 'ready' ? left.durationMs : null
      t.match(await store.calls.find(call, call.id), { recordingStatus: left.status, recordingDurationMs })
      const events = await store.callRecord.events(call, call.id, 0)
      const { failureCause } = events.find(({ type }) => type === `recording.${left.status}`) ?? {}
      t.equal(failureCause, left.status === 'failed' ? 'worker_lost' : null)
    }
  })
})
