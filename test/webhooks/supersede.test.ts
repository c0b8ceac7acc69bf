/** A newer call report replaces an older, undelivered report of the same call. */
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { DeliveryTargets } from '../../domain/records/webhook-endpoint.ts'
import { TestCluster } from '../store/cluster.ts'
import { type Answer, inOrder, ok, startReceiver, status } from './receiver.ts'
import { openWorld } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const report = (callId: string, version: number) => ({
  type: 'call.report' as const,
  callId,
  version,
  payload: { version },
})
const versions = (received: readonly { body: Buffer }[]) =>
  received.map(({ body }) => (JSON.parse(body.toString()) as { version: number }).version)

/** Stores a call's first call report for a webhook endpoint at a receiver. */
async function reported(t: Test, answer?: Answer) {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  const callId = v7()
  await world.emit(endpoint, report(callId, 1))
  return { world, receiver, endpoint, callId }
}

const isHeld = async (held: readonly unknown[]) => {
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

t.test('if a newer call report exists, an older report that waits for its next attempt is cancelled', async (t) => {
  const { world, receiver, endpoint, callId } = await reported(t, inOrder(status(500), ok))
  const dispatcher = world.dispatcher()
  await world.settle(dispatcher)
  await world.emit(endpoint, report(callId, 2))
  await world.settle(dispatcher)
  world.clock.advance(10 * 86_400_000)
  await world.settle(dispatcher)
  t.same(versions(receiver.received), [1, 2])
  const [first = '', second = ''] = await world.ids()
  t.match((await world.whole(first)).delivery, { status: 'cancelled', error: 'superseded', canRedeliver: false })
  t.match((await world.whole(second)).delivery, { status: 'succeeded', attempts: 1 })
})

t.test('a newer call report cancels only older reports of the same call to the same endpoint', async (t) => {
  const world = await openWorld(t, cluster)
  const endpoint = await world.endpoint('http://127.0.0.1:1/')
  const other = await world.endpoint('http://127.0.0.1:1/')
  const callId = v7()
  await world.emit([endpoint, other], report(callId, 1))
  await world.emit(endpoint, report(v7(), 1))
  await world.emit(endpoint, { callId, type: 'call.analysis' })
  await world.emit(endpoint, report(callId, 3))
  await world.emit(endpoint, report(callId, 2))
  const rows = await world.sql<{ type: string; version: number; status: string; isOther: boolean }[]>`
    select type, version, status, endpoint_id = ${other} as "isOther" from webhook_deliveries
    where call_id = ${callId} order by version, "isOther"`
  t.same(
    rows.map(({ type, version, status, isOther }) => `${type} ${version} ${isOther ? 'other' : 'same'} ${status}`),
    [
      'call.report 1 same cancelled',
      'call.report 1 other pending',
      'call.report 2 same pending',
      'call.report 3 same pending',
      'call.analysis null same pending',
    ],
  )
  const [row] = await world.sql`select status from webhook_deliveries where call_id <> ${callId}`
  t.equal(row?.['status'], 'pending')
})

t.test('a newer call report waits while an older one is delivered, and the older one is not retried', async (t) => {
  const held: ServerResponse[] = []
  const { world, receiver, endpoint, callId } = await reported(t, (response, { body }) => {
    if (versions([{ body }])[0] === 1) held.push(response)
    else response.end()
  })
  const dispatcher = world.dispatcher()
  await dispatcher.poll()
  await isHeld(held)
  await world.emit(endpoint, report(callId, 2))
  for (let looks = 0; looks < 5; looks++) {
    await dispatcher.poll()
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  t.same(versions(receiver.received), [1], 'the newer one has not begun')
  held[0]?.writeHead(500).end()
  await world.settle(dispatcher)
  t.same(versions(receiver.received), [1, 2])
  const [first = '', second = ''] = await world.ids()
  t.match((await world.whole(first)).delivery, {
    status: 'cancelled',
    error: 'superseded',
    attempts: 1,
    httpStatus: 500,
  })
  t.match((await world.whole(second)).delivery, { status: 'succeeded' })
})

t.test('a newer call report cannot be redelivered while the older report is being delivered', async (t) => {
  const held: ServerResponse[] = []
  const { world, receiver, endpoint, callId } = await reported(t, (response) => held.push(response))
  const dispatcher = world.dispatcher()
  await dispatcher.poll()
  await isHeld(held)
  await world.emit(endpoint, report(callId, 2))
  const [, second = ''] = await world.ids()
  t.match((await world.whole(second)).delivery, { status: 'pending', canRedeliver: false })
  await t.rejects(
    world.deliveries.redeliver(world.tenant, second),
    new ResourceFault({ kind: 'redelivery_unavailable' }),
  )
  held[0]?.writeHead(500).end()
  await dispatcher.stop(60_000)
  t.same(versions(receiver.received), [1])
  t.match((await world.whole(second)).delivery, { status: 'pending', canRedeliver: true })
})

t.test('if the process that delivered an older call report has died, the older report is not sent again', async (t) => {
  const { world, receiver, endpoint, callId } = await reported(t)
  const [claimed] = await world.store.webhookQueue.claim([{ endpointId: endpoint, max: 1 }], 1_000)
  t.equal(claimed?.claim, 1)
  await world.emit(endpoint, report(callId, 2))
  const dispatcher = world.dispatcher()
  await dispatcher.poll()
  t.equal(receiver.received.length, 0, 'its lease is not over')
  await world.pass(15_000)
  await world.settle(dispatcher)
  t.same(versions(receiver.received), [2])
  const [first = ''] = await world.ids()
  t.match((await world.whole(first)).delivery, { status: 'cancelled', error: 'superseded' })
})

t.test('a process whose claim expired before its attempt does not send an older call report', async (t) => {
  const { world, receiver, endpoint, callId } = await reported(t)
  const held: (() => void)[] = []
  const targets: DeliveryTargets = {
    deliveryTarget: async (tenant, id) => {
      await new Promise<void>((resolve) => held.push(resolve))
      return world.store.webhookTargets.deliveryTarget(tenant, id)
    },
  }
  const slow = world.dispatcher({ targets })
  await slow.poll()
  await isHeld(held)
  await world.pass(16_000)
  await world.emit(endpoint, report(callId, 2))
  await world.settle(world.dispatcher())
  held[0]?.()
  await slow.stop(60_000)
  t.same(versions(receiver.received), [2])
  const [first = ''] = await world.ids()
  t.match((await world.whole(first)).delivery, { status: 'cancelled', error: 'superseded', attempts: 0 })
})

t.test('a delivered call report cannot be redelivered once a newer report exists', async (t) => {
  const { world, endpoint, callId } = await reported(t)
  const dispatcher = world.dispatcher()
  await world.settle(dispatcher)
  const [first = ''] = await world.ids()
  t.match((await world.whole(first)).delivery, { status: 'succeeded', canRedeliver: true })
  await world.emit(endpoint, report(callId, 2))
  t.match((await world.whole(first)).delivery, { status: 'succeeded', canRedeliver: false })
  await t.rejects(
    world.deliveries.redeliver(world.tenant, first),
    new ResourceFault({ kind: 'redelivery_unavailable' }),
  )
})
