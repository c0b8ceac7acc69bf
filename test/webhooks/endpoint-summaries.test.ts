/** Tests the summary of deliveries that a webhook endpoint shows: the newest one, and the counts of 24 hours. */
import t from 'tap'
import { call, startAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { inOrder, ok, startReceiver, status } from './receiver.ts'

const { parley, admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })

type Endpoint = { id: string; lastDelivery: { status: string; httpStatus: number; at: string } | null; last24h: object }

t.test('getWebhook and listWebhooks show the newest delivery, and count the deliveries of 24 hours', async (t) => {
  const acme = await admin.organization('summaries')
  const receiver = await startReceiver(inOrder(ok, status(500), ok))
  const sql = openDatabase(parley)
  t.teardown(() => Promise.all([receiver.close(), sql.end()]))
  const endpoint = { name: 'Reports', url: receiver.url, events: ['call.report'] }
  const made = (await call(acme, 'POST', '/v1/webhooks', endpoint)).json<Endpoint>()
  t.match(made, { lastDelivery: null, last24h: { succeeded: 0, failed: 0, pending: 0 } })
  const silent = (await call(acme, 'POST', '/v1/webhooks', { ...endpoint, name: 'Silent' })).json<Endpoint>()
  const path = `/v1/webhooks/${made.id}`
  for (let events = 0; events < 2; events++) t.equal((await call(acme, 'POST', `${path}/test`)).status, 200)
  const shown = (await call(acme, 'GET', path)).json<Endpoint>()
  t.match(shown.lastDelivery, { status: 'failed', httpStatus: 500 })
  t.same(shown.last24h, { succeeded: 1, failed: 1, pending: 0 })
  const { data } = (await call(acme, 'GET', '/v1/webhooks')).json<{ data: Endpoint[] }>()
  t.same(
    data.find(({ id }) => id === made.id),
    shown,
  )
  t.match(
    data.find(({ id }) => id === silent.id),
    { lastDelivery: null },
  )
  await sql`update webhook_deliveries set created_at = created_at - interval '25 hours' where endpoint_id = ${made.id}`
  const later = (await call(acme, 'PATCH', path, { name: 'Old' })).json<Endpoint>()
  t.match(later, { name: 'Old', lastDelivery: { status: 'failed' }, last24h: { succeeded: 0, failed: 0, pending: 0 } })
})
