/** A call is read with its turns, spans and call report while it changes. */
import t from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import { isOver } from '../../domain/records/states/transfer.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const moved = (to: 'transferring' | 'in_progress'): CallEntry => ({
  kind: 'move',
  event: newEvent(`call.${to}`, { status: to }),
  to,
  change: {},
})

t.test('a call and its transfers are read in the same snapshot', async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id: organizationId } = await organization(store, 'a')
  const call = newCall(organizationId)
  await store.calls.insert(call, {})
  await store.calls.append(call, call.id, [moved('in_progress')])
  let isWriting = true
  const writing = (async () => {
    for (let times = 0; times < 150; times++) {
      const attempt = transferOf(call)
      const open = { ...attempt, status: 'requested' as const, completedAtMs: null }
      await store.calls.append(call, call.id, [moved('transferring'), transferred(open)])
      await store.calls.append(call, call.id, [transferred(attempt), moved('in_progress')])
    }
    isWriting = false
  })()
  let reads = 0
  const torn: string[] = []
  for (; isWriting; reads++) {
    const whole = await store.wholeCalls.find(call, call.id)
    const hasOpen = whole?.transfers.some(({ status }) => !isOver(status)) ?? false
    if (hasOpen !== (whole?.call.status === 'transferring')) torn.push(`${whole?.call.status} ${hasOpen}`)
  }
  await writing
  t.ok(reads > 20, 'it is read while it changes')
  t.same(torn, [])
})

t.test('a call with its turns, spans and report is read only by its tenant', async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id: organizationId } = await organization(store, 'a')
  const call = newCall(organizationId)
  await store.calls.insert(call, {})
  t.match(await store.wholeCalls.find(call, call.id), { call, turns: [], spans: [], report: null, transfers: [] })
  t.equal(await store.wholeCalls.find({ organizationId, test: true }, call.id), null)
  t.equal(await store.wholeCalls.find({ organizationId: 'org_other', test: false }, call.id), null)
  t.equal(await store.wholeCalls.find(call, 'x'), null)
})
