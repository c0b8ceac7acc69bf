/** A call's first call report, over a real Postgres: it has all costs, and only one process asks an LLM for it. */
import t from 'tap'
import { Reports, type ReportsDeps } from '../../domain/calls/reports.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { silent, TestCluster } from '../store/cluster.ts'
import { choiceIn, ledgerAttempt, ledgerRow } from '../store/settlement.ts'
import { analysis, connected, ended, openWorld, spoken, type World } from './call-events.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** Makes the part of one process that writes call reports. */
function reportsOf({ store }: World, analyse: ReportsDeps['analyse']): Reports {
  return new Reports({
    calls: store.calls,
    record: store.callRecord,
    reports: store.reports,
    changes: store.callChanges,
    whole: { report: () => Promise.reject(new Error('not asked for')) },
    analyse,
    deliveries: store.reportDeliveries,
    settled: () => store.ledger.drain(),
    clock: systemClock,
    log: silent,
  })
}

t.test('the first call report includes costs that still wait to be written to the ledger', async (t) => {
  const world = await openWorld(t, cluster)
  const { store, sql } = world
  await sql`update organizations set credit_micro_usd = 1000000`
  await world.endpoint({ events: ['call.report'] })
  const call = await world.call()
  await store.calls.append(call, call.id, [connected(), spoken(), ended()])
  const requests = 300
  const settleAll = () => {
    for (let at = 0; at < requests; at++) {
      const attempt = ledgerAttempt(`att_${at}`, { costMicroUsd: 7 })
      const more = { callId: call.id, attemptId: attempt.attemptId, costMicroUsd: 7, attempts: [attempt] }
      const row = ledgerRow(call.organizationId, `req_${at}`, more)
      store.ledger.settle({ row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
    }
  }
  const reports = reportsOf(world, () => {
    settleAll()
    return Promise.resolve(analysis())
  })
  await reports.analyse(call, call.id, 'pending')
  const [report] = await world.events(call)
  t.match(report?.body, { version: 1, cost_micro_usd: String(7 * requests) })
  t.match(report?.body['cost_breakdown'], [{ metric: 'output_tokens', quantity: 7 * requests }])
})

t.test('if several processes find the same call without a report, only one asks an LLM for it', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: ['call.report'] })
  const call = await world.call()
  await world.store.calls.append(call, call.id, [connected(), spoken(), ended()])
  let asked = 0
  const processes = [1, 2, 3].map(() =>
    reportsOf(world, () => {
      asked += 1
      return Promise.resolve(analysis())
    }),
  )
  const found = await world.store.reports.pending(10)
  t.equal(found.length, 1)
  for (const each of processes) await each.analyse(call, call.id, 'pending')
  t.equal(asked, 1)
  t.same(await world.names(call), ['call.report 1'])
})
