/** Metrics about webhook deliveries: attempts by outcome, waiting deliveries, and the longest wait. */
import t from 'tap'
import { createMetrics } from '../../runtime/telemetry/metrics.ts'
import { freePort, until } from '../process/machine.ts'
import { metric } from '../process/metrics.ts'
import { TestCluster } from '../store/cluster.ts'
import { startReceiver, status } from './receiver.ts'
import { serving } from './serving.ts'
import { openWorld } from './setup.ts'

t.test('metrics show the number of waiting deliveries, and the age of the longest due delivery', async (t) => {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(status(503))
  t.teardown(() => receiver.close())
  const { webhookQueue } = world.store
  t.same(await webhookQueue.backlog(), { open: 0, oldestDueMs: 0 })
  const endpointId = await world.endpoint(receiver.url)
  await world.emit(endpointId)
  await world.emit(endpointId)
  world.clock.advance(700)
  await webhookQueue.claim([{ endpointId, max: 1 }], 1_000)
  t.same(await webhookQueue.backlog(), { open: 2, oldestDueMs: 700 })
  await world.pass(15_000)
  const metrics = createMetrics()
  await world.settle(world.dispatcher({ metrics }))
  t.same(await webhookQueue.backlog(), { open: 2, oldestDueMs: 0 }, 'the next attempt is due in 5 s')
  const text = await metrics.registry.metrics()
  t.match(text, 'parley_webhook_attempt_seconds_count{outcome="http_status"} 2')
})

t.test('metrics count delivery attempts by outcome, and contain no id or URL of an endpoint', async (t) => {
  const adminPort = await freePort()
  const served = await serving(t, { PARLEY_ADMIN_PORT: String(adminPort) })
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const ids = [await served.endpoint(receiver.url), await served.endpoint('http://127.0.0.1:9/hook')]
  await served.emit(ids)
  const count = (outcome: string) => metric(adminPort, 'parley_webhook_attempt_seconds_count', `outcome="${outcome}"`)
  await until('two attempts', async () => (await count('success')) + (await count('connect')) === 2)
  t.same([await count('success'), await count('connect')], [1, 1])
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  t.match(text, /^parley_webhook_deliveries_open \d+$/m)
  t.match(text, /^parley_webhook_oldest_due_seconds [\d.]+$/m)
  for (const secret of [...ids, '/hook', '127.0.0.1']) t.notMatch(text, secret)
})
