/** The SIP trunk line stores the dialogs of its legs, so the next process can hang up a dead process's legs. */
import t from 'tap'
import { dialogBytesMax } from '../../domain/ports/leg-dialogs.ts'
import type { LineName } from '../../domain/ports/phone-line.ts'
import type { Leg } from '../../domain/records/leg.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { newCall } from '../calls/call.ts'
import { storeClock } from '../time/store-clock.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const graceMs = 10_000

async function open(test: Parameters<TestCluster['store']>[0]) {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(test, url, { clock })
  const sql = cluster.sql(test, url)
  const { id } = await organization(store, 'a')
  const call = newCall(id, { status: 'in_progress', ownerId: store.instanceId })
  await store.calls.insert(call, {})
  await sql`update instances set alive_until = now() + interval '1 day'`
  const leg = async (line: LineName, party: Leg['party'], carrierLegId: string | null = null): Promise<Leg> => {
    const row: Leg = {
      ...{ organizationId: id, test: false, id: systemIds.leg(), callId: call.id, party, direction: 'outbound', line },
      ...{ carrierLegId, createdAtMs: clock.nowMs(), answeredAtMs: null, endedAtMs: null, microUsdPerMinute: null },
    }
    await store.legs.insert(row)
    return row
  }
  return { store, sql, clock, call, leg }
}

t.test('a SIP dialog is stored under its carrierLegId until its leg has ended', async (t) => {
  const { store, clock, leg } = await open(t)
  const dialogs = store.trunkDialogs
  const { id: legId, ...row } = await leg('trunk', 'caller')
  await dialogs.keep({ legId, carrierLegId: 'far' }, '{"cseq":1}')
  t.match(await store.legs.find('trunk', { legId, carrierLegId: 'far' }), { id: legId, carrierLegId: 'far' })
  t.equal(await dialogs.find('far'), '{"cseq":1}')
  await dialogs.keep({ legId: null, carrierLegId: 'far' }, '{"cseq":2}')
  t.equal(await dialogs.find('far'), '{"cseq":2}')
  t.equal(await dialogs.find('other'), null)
  await store.legs.ended({ ...row, id: legId }, clock.nowMs())
  t.equal(await dialogs.find('far'), null)
  await dialogs.keep({ legId, carrierLegId: 'far' }, '{"cseq":3}')
  t.equal(await dialogs.find('far'), null, 'one that comes late is not stored')
})

t.test('a dialog for a leg outside a trunk is not stored, and a dialog over 16 KiB is refused', async (t) => {
  const { store, leg } = await open(t)
  const { id: legId } = await leg('simulator', 'caller', 'far')
  await store.trunkDialogs.keep({ legId, carrierLegId: 'far' }, '{}')
  t.equal(await store.trunkDialogs.find('far'), null)
  const long = JSON.stringify('x'.repeat(dialogBytesMax))
  await t.rejects(store.trunkDialogs.keep({ legId, carrierLegId: 'far' }, long), /more than 16384 bytes/)
})

t.test('two connected trunk legs end with their process, because the process relays the audio', async (t) => {
  const { store, sql, clock, call, leg } = await open(t)
  const [caller, recipient] = [await leg('trunk', 'caller', 'one'), await leg('trunk', 'recipient', 'two')]
  await store.calls.append(call, call.id, [
    transferred({ ...transferOf(call), legId: recipient.id, status: 'completed', failureCause: null }),
  ])
  const orphans = async () => (await store.legs.orphans(graceMs, 10)).map(({ id }) => id).sort()
  t.same(await orphans(), [], 'their process lives')
  await sql`update instances set alive_until = now() - interval '1 day'`
  t.same(await orphans(), [caller.id, recipient.id].sort())
  clock.setMs += graceMs
  await sql`update calls set ended_at = created_at, end_reason = 'transferred', status = 'completed'`
  t.same(await orphans(), [caller.id, recipient.id].sort())
  t.same(await store.legs.unattended(10), [], 'nobody counts them as over without a word to the far end')
})
