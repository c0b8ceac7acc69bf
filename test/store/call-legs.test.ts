/** Call legs whose process has died, and the search that finds them. */
import t from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import type { Leg, LegParty } from '../../domain/records/leg.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { storeClock } from '../time/store-clock.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const graceMs = 10_000

async function transferring(test: Parameters<TestCluster['store']>[0]) {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(test, url, { clock })
  const sql = cluster.sql(test, url)
  const { id } = await organization(store, 'a')
  const call = newCall(id, { status: 'transferring', ownerId: store.instanceId })
  await store.calls.insert(call, {})
  // The call's process stays alive, however far the clock moves.
  await sql`update instances set alive_until = now() + interval '1 day'`
  const leg = async (party: LegParty): Promise<Leg> => {
    const legId = systemIds.leg()
    const row: Leg = {
      ...{
        organizationId: id,
        test: false,
        id: legId,
        callId: call.id,
        party,
        direction: 'outbound',
        line: 'simulator',
      },
      ...{ carrierLegId: `v3:${legId}`, createdAtMs: clock.nowMs(), answeredAtMs: null, endedAtMs: null },
      microUsdPerMinute: null,
    }
    await store.legs.insert(row)
    return row
  }
  const [caller, recipient] = [await leg('caller'), await leg('recipient')]
  const orphans = async () => {
    const legs = await store.legs.orphans(graceMs, 10)
    return legs.map((each) => (each.id === caller.id ? 'caller' : 'recipient')).sort()
  }
  const attempt = (status: 'failed' | 'completed' | 'screening') => {
    const failureCause = status === 'failed' ? ('declined' as const) : null
    return transferred({ ...transferOf(call), legId: recipient.id, status, failureCause })
  }
  return { store, sql, clock, call, caller, recipient, orphans, attempt }
}

const ended = (endReason: 'transferred' | 'pipeline_failed'): CallEntry => {
  const to = endReason === 'transferred' ? 'completed' : 'failed'
  return { kind: 'move', event: newEvent(`call.${to}`), to, change: { endedAtMs: Date.now(), endReason } }
}

t.test('the leg of a failed transfer attempt is hung up even while its call goes on', async (t) => {
  const { store, call, clock, recipient, orphans, attempt } = await transferring(t)
  await store.calls.append(call, call.id, [attempt('failed')])
  t.same(await orphans(), [], 'its process hangs it up first')
  clock.setMs += graceMs + 1000
  t.same(await orphans(), ['recipient'])
  await store.legs.ended(recipient, clock.nowMs())
  t.same(await orphans(), [])
})

t.test(
  'many orphaned legs of one carrier do not keep the search from finding those of a trunk or of another organization',
  async (t) => {
    const url = await cluster.database()
    const clock = storeClock()
    const store = await cluster.store(t, url, { clock })
    const [many, few] = [await organization(store, 'many'), await organization(store, 'few')]
    const left = async ({ id: organizationId }: { id: string }, line: Leg['line']): Promise<string> => {
      const call = newCall(organizationId, { ownerId: store.instanceId })
      await store.calls.insert(call, {})
      clock.setMs += 1
      const leg: Leg = {
        ...{
          organizationId,
          test: false,
          id: systemIds.leg(),
          callId: call.id,
          party: 'caller',
          direction: 'outbound',
        },
        ...{ line, carrierLegId: null, createdAtMs: clock.nowMs(), answeredAtMs: null, endedAtMs: null },
        microUsdPerMinute: null,
      }
      await store.legs.insert(leg)
      return leg.id
    }
    const old: string[] = []
    for (let legs = 0; legs < 12; legs++) old.push(await left(many, 'carrier'))
    const [other, trunk] = [await left(few, 'carrier'), await left(many, 'trunk')]
    await cluster.sql(t, url)`update instances set alive_until = now() - interval '1 day'`
    const found = (await store.legs.orphans(graceMs, 10)).map(({ id }) => id)
    t.same(found.toSorted(), [...old.slice(0, 9), other, trunk].toSorted())
  },
)

t.test('two connected legs may continue after their process has died, but a single leg may not', async (t) => {
  const { store, sql, call, clock, caller, orphans, attempt } = await transferring(t)
  await sql`update instances set alive_until = now() - interval '1 day'`
  t.same(await orphans(), ['caller', 'recipient'], 'before the transfer is completed')
  await store.calls.append(call, call.id, [attempt('completed')])
  t.same(await orphans(), [], 'the transfer and its bridge are stored at once')
  await store.legs.ended(caller, clock.nowMs())
  t.same(await orphans(), [], 'the line hangs up the other one, as a rule')
  clock.setMs += graceMs + 1000
  t.same(await orphans(), ['recipient'])
})

t.test('if a call does not end by its transfer, its two connected legs are hung up', async (t) => {
  for (const [reason, left] of [
    ['transferred', []],
    ['pipeline_failed', ['caller', 'recipient']],
  ] as const) {
    const { store, call, clock, orphans, attempt } = await transferring(t)
    await store.calls.append(call, call.id, [attempt('completed'), ended(reason)])
    clock.setMs += graceMs + 1000
    t.same(await orphans(), left, reason)
  }
})

t.test('if connected legs outlive their call, the legs are listed for regular checks', async (t) => {
  const { store, call, caller, recipient, clock, attempt } = await transferring(t)
  const unattended = async () => (await store.legs.unattended(10)).map(({ id }) => id).sort()
  await store.calls.append(call, call.id, [attempt('completed')])
  t.same(await unattended(), [], 'the process of the call looks at them')
  await store.calls.append(call, call.id, [ended('transferred')])
  t.same(await unattended(), [caller.id, recipient.id].sort())
  await store.legs.ended(caller, clock.nowMs())
  t.same(await unattended(), [recipient.id])
})

t.test('if connected legs continue after their call and credit is used up, the legs are hung up', async (t) => {
  const { store, sql, call, clock, orphans, attempt } = await transferring(t)
  await store.calls.append(call, call.id, [attempt('completed'), ended('transferred')])
  clock.setMs += graceMs + 1000
  await sql`update organizations set credit_micro_usd = 0`
  t.same(await orphans(), [], 'they cost nothing')
  await sql`update call_legs set micro_usd_per_minute = 7000 where party = 'recipient'`
  t.same(await orphans(), ['caller', 'recipient'])
  await sql`update organizations set credit_micro_usd = 1`
  t.same(await orphans(), [])
})

t.test(
  "a dead process's call ends as transferred if two parties were connected, else its transfer attempt fails",
  async (t) => {
    for (const [status, end, events] of [
      ['completed', { status: 'completed', endReason: 'transferred' }, ['call.completed -']],
      [
        'screening',
        { status: 'failed', endReason: 'worker_lost' },
        ['transfer.failed carrier_error', 'call.failed worker_lost'],
      ],
    ] as const) {
      const { store, sql, call, attempt } = await transferring(t)
      await store.calls.append(call, call.id, [attempt(status)])
      // The call gets a dead process as its owner. This process cannot be made to look dead, because its row is renewed
      // every few seconds.
      await sql`update calls set owner_id = 'of a dead process'`
      const salvage = () => Promise.resolve({ status: 'failed' as const })
      await store.calls.endOrphans(salvage)
      t.match(await store.calls.find(call, call.id), { endedAtMs: null }, 'it is given time once')
      await store.calls.endOrphans(salvage)
      t.match(await store.calls.find(call, call.id), end)
      const [stored] = await store.transfers.list(call, call.id)
      const failed = { status: 'failed', failureCause: 'carrier_error', completedAtMs: Number }
      t.match(stored, status === 'completed' ? { status, failureCause: null } : failed)
      const ends = (await store.callRecord.events(call, call.id, 0)).filter(({ type }) =>
        /\.(failed|completed)$/.test(type),
      )
      const shown = ends.map(({ type, failureCause }) => `${type} ${failureCause ?? '-'}`)
      t.same(
        shown.filter((text) => !text.startsWith('transfer.completed')),
        events,
      )
    }
  },
)

t.test("a dead process's legs are due for hang-up, even if their call ended only a moment ago", async (t) => {
  const { store, sql, call, orphans } = await transferring(t)
  await sql`update instances set alive_until = now() - interval '1 day'`
  await store.calls.append(call, call.id, [{ ...ended('pipeline_failed') }])
  t.same(await orphans(), ['caller', 'recipient'])
})
