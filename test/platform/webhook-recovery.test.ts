/** recoverWebhook over the public API. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { inOrder, ok, startReceiver, status } from '../webhooks/receiver.ts'
import { eventOf, openStoredEvents } from '../webhooks/stored-events.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin, parley } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
const events = openStoredEvents(parley.databaseUrl)
const sql = openDatabase(parley)
t.teardown(() => Promise.all([events.close(), sql.end()]))

const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const hourMs = 3_600_000
const recover = (target: Target, id: string, body: object = { since: ago(hourMs) }) =>
  call(target, 'POST', `/v1/webhooks/${id}/recover`, body)

async function endpointOf(target: Target, url: string): Promise<{ id: string; name: string }> {
  const wanted = { name: 'Status', url, events: ['call.status'] }
  return (await call(target, 'POST', '/v1/webhooks', wanted)).json()
}

t.test('recoverWebhook sends deliveries again that failed in an outage, and the audit log has it', async (t) => {
  const acme = await admin.organization('with an outage', { scopes: ['platform', 'admin'] })
  const receiver = await startReceiver(inOrder(status(500, { 'retry-after': '3600' }), ok))
  t.teardown(() => receiver.close())
  const endpoint = await endpointOf(acme, receiver.url)
  const id = await events.store({ organizationId: acme.id, test: false }, eventOf(Date.now()), [endpoint])
  const delivery = async () =>
    (await call(acme, 'GET', '/v1/webhook-deliveries')).json<{ data: { status: string; attempts: number }[] }>().data[0]
  await until('the first attempt has failed', async () => (await delivery())?.attempts === 1)
  await sql`update webhook_deliveries set status = 'failed' where event_id = ${id}`
  const answer = await recover(acme, endpoint.id)
  t.equal(answer.status, 202, answer.text)
  t.same(answer.json(), { deliveries: 1 })
  await until('it has arrived', async () => (await delivery())?.status === 'succeeded')
  t.same(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [id, id],
  )
  t.same((await recover(acme, endpoint.id)).json(), { deliveries: 0 })
  const log = (await call(acme, 'GET', '/v1/audit-events?action=webhook.recovered')).json<{ events: object[] }>()
  t.match(log.events, [{ target: { type: 'webhook', id: endpoint.id } }, { target: { id: endpoint.id } }])
})

t.test('recoverWebhook does not send a failed test event again', async (t) => {
  const acme = await admin.organization('that tries')
  const receiver = await startReceiver(status(500))
  t.teardown(() => receiver.close())
  const { id } = await endpointOf(acme, receiver.url)
  const tried = await call(acme, 'POST', `/v1/webhooks/${id}/test`, { event: 'call.status' })
  t.match(tried.json(), { delivered: false, httpStatus: 500 })
  const list = (await call(acme, 'GET', '/v1/webhook-deliveries')).json<{ data: object[] }>()
  t.match(list.data, [{ status: 'failed' }])
  t.same((await recover(acme, id)).json(), { deliveries: 0 })
})

t.test('recoverWebhook says why it is refused', async (t) => {
  const acme = await admin.organization('without an outage')
  const { id } = await endpointOf(acme, 'https://shop.example/hook')
  t.same(faultOf(await recover(await admin.organization('of strangers'), id)), { status: 404, code: 'NOT_FOUND' })
  t.same(faultOf(await recover(acme, 'x')), { status: 404, code: 'NOT_FOUND' })
  const dayMs = 24 * hourMs
  for (const [body, path] of [
    [{}, '/since'],
    [{ since: 'yesterday' }, '/since'],
    [{ since: ago(31 * dayMs) }, '/since'],
    [{ since: ago(hourMs), until: ago(2 * hourMs) }, '/until'],
    [{ since: ago(hourMs), before: ago(0) }, '/before'],
  ] as const)
    t.same(faultOf(await recover(acme, id, body)), { status: 400, code: 'VALIDATION_ERROR', paths: [path] })
  t.equal((await recover(acme, id, { since: ago(30 * dayMs) })).status, 202, 'a month ago is not too long ago')
  await call(acme, 'PATCH', `/v1/webhooks/${id}`, { disabled: true })
  const refused = await recover(acme, id)
  t.same(faultOf(refused), { status: 409, code: 'REDELIVERY_UNAVAILABLE' })
  t.match(refused.json<{ error: string }>().error, /The endpoint is disabled\. Enable it/)
})
