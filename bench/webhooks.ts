/** Compares a delivery's CPU in Parley, the receiver and the database with a bare post's CPU (the "floor"). */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAdministration } from '../test/platform/setup.ts'
import { databaseUrlOf, openDatabase, postgresPid } from '../test/process/database.ts'
import { countOf, makeDue, openEmitter } from '../test/webhooks/load.ts'
import { insertEndpoint } from '../test/webhooks/recorded.ts'
import type { Figure } from './figure.ts'
import { forkListener } from './fork.ts'
import { startGateway } from './gateway.ts'
import { cpuMs, treeCpuMs } from './process-figures.ts'

const endpoints = 20
const events = 500
const deliveries = endpoints * events
/** At 2,000 deliveries a second on two cores, each delivery has this much of a core's time. */
const cpuMsMax = 1

export async function deliveryFigures(dataDir: string): Promise<Figure[]> {
  const receiver = await forkListener('fast-receiver.ts')
  const parley = await startGateway(dataDir, { outbound: { allowedSubnets: ['127.0.0.0/8'] } })
  const administration = await openAdministration(parley)
  const { id: organizationId } = await administration.organization('with many deliveries')
  const tenant = { organizationId, test: false }
  const sql = openDatabase(dataDir)
  const emitter = openEmitter(databaseUrlOf(dataDir), tenant)
  try {
    const url = `http://127.0.0.1:${receiver.port}/hook`
    const ids: string[] = []
    for (let made = 0; made < endpoints; made++) ids.push(await insertEndpoint(sql, tenant, url))
    // The first deliveries compile the code and open the connections.
    await deliver(sql, 50, (dueInMs) => emitter.emit(ids, dueInMs))
    const database = postgresPid(dataDir) ?? 0
    const before = [cpuMs(parley.pid), treeCpuMs(database), cpuMs(receiver.pid)]
    const seconds = await deliver(
      sql,
      events,
      (dueInMs) => emitter.emit(ids, dueInMs),
      () => {
        before.splice(0, 3, cpuMs(parley.pid), treeCpuMs(database), cpuMs(receiver.pid))
      },
    )
    const after = [cpuMs(parley.pid), treeCpuMs(database), cpuMs(receiver.pid)]
    const [ours = 0, postgres = 0, theirs = 0] = after.map((ms, at) => (ms - (before[at] ?? 0)) / deliveries)
    const floor = await floorCpuMs(receiver.port, receiver.pid)
    const value = ours + postgres + theirs
    return [
      {
        name: 'CPU of a webhook delivery, receiver and Postgres included',
        value,
        unit: 'ms',
        bar: cpuMsMax,
        detail: `server ${ours.toFixed(3)}, Postgres ${postgres.toFixed(3)}, receiver ${theirs.toFixed(3)}; floor of a bare post with its receiver ${floor.toFixed(3)}, ratio ${(value / floor).toFixed(1)}; ${(2000 / value).toFixed(0)} deliveries/s on two cores, ${(deliveries / seconds).toFixed(0)} deliveries/s in this run (${deliveries} to ${endpoints} endpoints)`,
      },
    ]
  } finally {
    await emitter.close()
    await sql.end()
    await administration.close()
    await parley.stop()
    receiver.child.disconnect()
  }
}

/**
 * Stores the events for later, makes them due at once, and waits until all are delivered. Resolves with the seconds
 * from then on.
 */
async function deliver(
  sql: ReturnType<typeof openDatabase>,
  count: number,
  emit: (dueInMs: number) => Promise<unknown>,
  begins = () => {},
): Promise<number> {
  for (let made = 0; made < count; made++) await emit(3_600_000)
  const expected = (await countOf(sql, 'succeeded')) + (await countOf(sql, 'pending'))
  await sql`analyze webhook_deliveries, webhook_events, webhook_attempts`
  begins()
  const startedMs = performance.now()
  await makeDue(sql)
  while ((await countOf(sql, 'succeeded')) < expected) await sleep(50)
  return (performance.now() - startedMs) / 1000
}

async function floorCpuMs(port: number, receiverPid: number): Promise<number> {
  const { child, pid } = await forkListener('bare-posts.ts', [String(port), String(deliveries), '320'])
  const before = cpuMs(pid) + cpuMs(receiverPid)
  child.send('go')
  await once(child, 'message')
  const spent = cpuMs(pid) + cpuMs(receiverPid) - before
  child.disconnect()
  return spent / deliveries
}
