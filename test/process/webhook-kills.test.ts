/**
 * Sends deliveries while the process is killed again and again: no delivery may be lost, and only deliveries under way
 * at a kill may be sent twice. `make test-all LANE=webhooks` runs the test with more kills and events.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { random, seed } from '../random.ts'
import { countOf, makeDue } from '../webhooks/load.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { isFullSize } from '../webhooks/served.ts'
import { startServing } from './serving-webhooks.ts'

const [events, kills] = isFullSize ? [1_000, 10] : [200, 3]
const endpointsMax = 10
const failingPart = 0.05
const drainMs = 60_000

t.test(`${events * endpointsMax} deliveries survive ${kills} kills (PARLEY_TEST_SEED=${seed})`, async (t) => {
  const next = random(seed)
  const serving = await startServing(t)
  const { sql } = serving
  /** Counts the received requests by endpoint and webhook-id. */
  const taken = new Map<string, number>()
  const failed = new Set<string>()
  const receiver = await startReceiver((response, { path, headers }) => {
    const key = `${path.slice('/hook/'.length)} ${String(headers['webhook-id'])}`
    if (!failed.has(key) && !taken.has(key) && next() < failingPart) {
      failed.add(key)
      return response.writeHead(503).end()
    }
    taken.set(key, (taken.get(key) ?? 0) + 1)
    return response.writeHead(204).end()
  })
  t.teardown(() => receiver.close())
  const urls = Array.from({ length: endpointsMax }, (_, at) => `${receiver.url}/${at}`)
  const ids: string[] = []
  for (const url of urls) ids.push(await serving.endpoint(url))
  for (let made = 0; made < events; made++) await serving.emit(ids, 3_600_000)
  const total = events * endpointsMax
  t.equal(await countOf(sql, 'pending'), total)
  await makeDue(sql)
  /** Deliveries whose attempt was under way at a kill. */
  const underWay = new Set<string>()
  for (let killed = 0; killed < kills; killed++) {
    await untilTaken(taken, taken.size + Math.floor((total / (kills + 1)) * (0.3 + next() * 0.6)))
    await serving.kill()
    const claimed = await sql<{ eventId: string; endpointId: string }[]>`
      select event_id as "eventId", endpoint_id as "endpointId" from webhook_deliveries where status = 'delivering'`
    for (const { eventId, endpointId } of claimed) underWay.add(`${ids.indexOf(endpointId)} ${eventId}`)
    await serving.restart()
  }
  const startedMs = performance.now()
  while ((await countOf(sql, 'succeeded')) < total && performance.now() - startedMs < drainMs) await sleep(100)
  const drainedMs = performance.now() - startedMs
  t.equal(await countOf(sql, 'succeeded'), total, 'all are delivered')
  t.equal(taken.size, total, 'no delivery is lost')
  const twice = [...taken].filter(([, times]) => times > 1).map(([key]) => key)
  t.same(
    twice.filter((key) => !underWay.has(key)),
    [],
    'only those under way at a kill are sent twice',
  )
  t.ok(underWay.size > 0, 'kills met deliveries under way')
  t.ok(drainedMs < drainMs)
  t.ok(failed.size > 0)
  t.comment(
    `${total} deliveries, ${kills} kills, 0 lost, ${twice.length} twice of ${underWay.size} under way, ${failed.size} errors, drained ${(drainedMs / 1000).toFixed(1)} s after the last kill`,
  )
})

/** Waits for `count` deliveries, so that the next kill finds some unfinished, however fast the machine is. */
async function untilTaken(taken: ReadonlyMap<string, number>, count: number): Promise<void> {
  const endMs = performance.now() + drainMs
  while (taken.size < count && performance.now() < endMs) await sleep(1)
}
