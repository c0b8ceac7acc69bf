/** The transaction that makes a change also stores the request's audit log entry. */

import t from 'tap'
import { v7 } from 'uuid'
import { type AuditEntry, carry, commandEvent } from '../../domain/records/audit.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { transactionEach } from '../../store/postgres/tenant.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const url = await cluster.database()
const clock = storeClock()
const store = await cluster.store(t, url, { clock })
const sql = cluster.sql(t, url)
const { id: organizationId } = await organization(store, 'a', 0)
const worlds = transactionEach(sql)

function carrying(isOpen = true): { tenant: Tenant; entry: AuditEntry } {
  const event = commandEvent(organizationId, 'agent.updated', { type: 'agent', id: 'agent_1', name: null })
  const entry = { id: `audit_${v7()}`, beganAt: new Date(), event, isOpen, isStored: false }
  return { tenant: carry({ organizationId, test: false }, entry), entry }
}

const stored = async ({ id }: AuditEntry) => (await sql`select from audit_events where id = ${id}`).length
const write = (tenant: Tenant) =>
  worlds.asTenant(tenant, (tx) => tx`update organizations set name = name where id = ${organizationId}`)

t.test("a request's first write also stores its audit log entry, and later writes do not", async (t) => {
  const { tenant, entry } = carrying()
  await write(tenant)
  t.equal(entry.isStored, true)
  await write(tenant)
  t.equal(await stored(entry), 1)
})

t.test('two transactions of one request that write at the same time store one audit log entry', async (t) => {
  const { tenant, entry } = carrying()
  await Promise.all([write(tenant), write(tenant)])
  t.equal(await stored(entry), 1)
})

t.test('a transaction that only reads, fails, or ends after the response stores no audit log entry', async (t) => {
  const [reading, failing, late] = [carrying(), carrying(), carrying(false)]
  await worlds.asTenant(reading.tenant, (tx) => tx`select 1`)
  const failed = worlds.asTenant(failing.tenant, async (tx) => {
    await tx`update organizations set name = name where id = ${organizationId}`
    throw new Error('refused')
  })
  await t.rejects(failed, /refused/)
  await write(late.tenant)
  for (const { entry } of [reading, failing, late]) t.same([await stored(entry), entry.isStored], [0, false])
})

t.test('an event has the time of its request, even if the database takes it later', async (t) => {
  const requestedAt = new Date(clock.nowMs())
  const event = commandEvent(organizationId, 'access.denied', { type: 'operation', id: 'late', name: null })
  const { entry } = carrying(false)
  const stores = [store.audit.add(event), store.audit.addHourly({ ...event, action: 'recording.played' })]
  clock.setMs += 60_000
  await Promise.all([...stores, store.audit.finish({ ...entry, beganAt: requestedAt })])
  const { events } = await store.audit.list(organizationId, {}, 3, null)
  t.equal(events.length, 3)
  for (const { action, occurredAt } of events)
    t.ok(occurredAt.getTime() - requestedAt.getTime() < 30_000, `${action}: ${occurredAt.toISOString()}`)
})
