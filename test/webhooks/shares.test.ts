/** Endpoints that do not answer use only a part of the attempts that may run at the same time. */
import t from 'tap'
import type { Dispatcher } from '../../domain/webhooks/dispatcher.ts'
import { TestClock } from '../clock.ts'
import { TestCluster } from '../store/cluster.ts'
import { wholeProcess } from '../time/quiet.ts'
import { startReceiver } from './receiver.ts'
import { openWorld } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const limits = { max: 96, endpointMax: 16 }

/**
 * Lets the dispatcher poll until the condition is true, and then a few times more, because further polls must not
 * change it.
 */
async function polled(time: TestClock, dispatcher: Dispatcher, isReached: () => boolean): Promise<void> {
  for (let looks = 0, after = 0; looks < 400 && after < 10; looks++) {
    if (isReached()) after++
    await dispatcher.poll()
    await time.advance(25)
  }
}

t.test('if 100 endpoints of an organization never answer, another organization still gets its events', async (t) => {
  const time = new TestClock({ quiet: wholeProcess })
  const world = await openWorld(t, cluster, { time })
  const other = await world.other()
  let hanging = 0
  const silent = await startReceiver(() => void hanging++)
  const receiver = await startReceiver()
  t.teardown(() => Promise.all([silent.close(), receiver.close()]))
  const dead: string[] = []
  for (let made = 0; made < 100; made++) dead.push(await world.endpoint(`${silent.url}/${made}`, { timeoutMs: 30_000 }))
  for (let events = 0; events < 3; events++) for (const id of dead) await world.emit(id)
  const dispatcher = world.dispatcher({ limits })
  await polled(time, dispatcher, () => hanging >= 60)
  t.ok(hanging >= 60 && hanging <= 66, `two thirds of the room: ${hanging}`)
  const fast = [await other.endpoint(receiver.url), await other.endpoint(receiver.url)]
  for (let events = 0; events < 40; events++) await other.emit(fast)
  await polled(time, dispatcher, () => receiver.received.length === 80)
  t.equal(receiver.received.length, 80)
})

t.test("an endpoint that answers slowly gets at most a quarter of another endpoint's attempts", async (t) => {
  const time = new TestClock({ quiet: wholeProcess })
  const world = await openWorld(t, cluster, { time })
  const open = { now: 0, most: 0 }
  const receiver = await startReceiver((response) => {
    open.most = Math.max(open.most, ++open.now)
    time.after(2_100, () => {
      open.now--
      response.end()
    })
  })
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  await world.emit(endpoint)
  const dispatcher = world.dispatcher({ limits })
  await world.settle(dispatcher)
  for (let events = 0; events < 6; events++) await world.emit(endpoint)
  await world.settle(dispatcher)
  t.equal(receiver.received.length, 7)
  t.equal(open.most, 4)
})

t.test(
  'if an organization recovers deliveries to an endpoint that never answers, others still get events',
  async (t) => {
    const time = new TestClock({ quiet: wholeProcess })
    const world = await openWorld(t, cluster, { time })
    const other = await world.other()
    let hanging = 0
    const silent = await startReceiver(() => void hanging++)
    const receiver = await startReceiver()
    t.teardown(() => Promise.all([silent.close(), receiver.close()]))
    const dead = await world.endpoint(silent.url, { timeoutMs: 30_000 })
    for (let events = 0; events < 100; events++) await world.emit(dead)
    await world.sql`update webhook_deliveries set status = 'failed'`
    const dispatcher = world.dispatcher({ limits })
    const range = { endpointId: dead, fromMs: time.nowMs() - 1_000, toMs: null }
    t.equal(await world.deliveries.recover(world.tenant, range), 100)
    await polled(time, dispatcher, () => hanging >= limits.endpointMax)
    t.equal(hanging, limits.endpointMax)
    const fast = await other.endpoint(receiver.url)
    for (let events = 0; events < 40; events++) await other.emit(fast)
    await polled(time, dispatcher, () => receiver.received.length === 40)
    t.equal(receiver.received.length, 40)
  },
)

t.test('if endpoints of many organizations never answer, another organization still gets its events', async (t) => {
  const time = new TestClock({ quiet: wholeProcess })
  const world = await openWorld(t, cluster, { time })
  let hanging = 0
  const silent = await startReceiver(() => void hanging++)
  const receiver = await startReceiver()
  t.teardown(() => Promise.all([silent.close(), receiver.close()]))
  for (let made = 0; made < 6; made++) {
    const other = await world.other()
    for (let endpoints = 0; endpoints < 8; endpoints++) {
      const id = await other.endpoint(`${silent.url}/${made}/${endpoints}`, { timeoutMs: 30_000 })
      for (let events = 0; events < 6; events++) await other.emit(id)
    }
  }
  const dispatcher = world.dispatcher({ limits })
  await polled(time, dispatcher, () => hanging >= 70)
  t.ok(hanging >= 70 && hanging < 96, `${hanging} of 96`)
  await world.emit(await world.endpoint(receiver.url))
  await polled(time, dispatcher, () => receiver.received.length > 0)
  t.equal(receiver.received.length, 1)
})
