/** Tests the delivery log and test events over the API. */
import t from 'tap'
import { v7 } from 'uuid'
import { newCall } from '../calls/call.ts'
import { openDatabase } from '../process/database.ts'
import { inOrder, ok, startReceiver, status } from '../webhooks/receiver.ts'
import { recordDelivery } from '../webhooks/recorded.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin, parley } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })

type Item = { id: string; eventId: string; status: string; event: string; createdAt: string; endpointName: string }
type Page = {
  data: Item[]
  nextCursor: string | null
  endpointOptions: { id: string; name: string; deleted: boolean }[]
}
const types = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording']

t.test('listWebhookDeliveries pages and filters the delivery log', async (t) => {
  const acme = await admin.organization('with a log')
  const tenant = { organizationId: acme.id, test: false }
  const page = async (query = '') => (await call(acme, 'GET', `/v1/webhook-deliveries${query}`)).json<Page>()
  const wanted = { name: 'Here', url: 'https://shop.example/hook', events: ['call.status'] }
  const here = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string }>().id
  const gone = v7()
  const callId = v7()
  const ids: string[] = []
  for (let made = 0; made < 5; made++) {
    const more = made === 0 ? { callId, agentId: 'agent_1' } : {}
    ids.unshift(await recordDelivery(admin.store, tenant, made < 3 ? here : gone, { endpointName: 'Gone', ...more }))
  }
  const idsOf = ({ data }: Page) => data.map(({ id }) => id)
  const all = await page()
  t.same(idsOf(all), ids, 'the newest first')
  t.equal(all.nextCursor, null)
  t.same(all.endpointOptions, [
    { id: here, name: 'Here', kind: 'workspace', deleted: false },
    { id: gone, name: 'Gone', kind: 'workspace', deleted: true },
  ])
  const first = await page('?limit=2')
  const second = await page(`?limit=2&cursor=${first.nextCursor}`)
  const third = await page(`?limit=2&cursor=${second.nextCursor}`)
  t.same([...idsOf(first), ...idsOf(second), ...idsOf(third)], ids)
  t.equal(third.nextCursor, null)

  const oldest = all.data.at(-1)!
  t.same(idsOf(await page(`?endpointId=${gone}`)), ids.slice(0, 2))
  t.same(idsOf(await page(`?sessionId=${callId}`)), [oldest.id])
  t.same(idsOf(await page(`?eventId=${oldest.eventId}`)), [oldest.id])
  t.same(idsOf(await page('?agentId=agent_1')), [oldest.id])
  t.same(idsOf(await page('?agentId=agent_2')), [])
  t.same(idsOf(await page('?event=call.status&status=succeeded')), ids)
  t.same(idsOf(await page('?event=call.report')), [])
  t.same(idsOf(await page('?status=failed')), [])
  const times = all.data.map(({ createdAt }) => createdAt)
  t.same(
    idsOf(await page(`?from=${times[1]}&to=${times[1]}`)),
    ids.filter((_, at) => times[at] === times[1]),
  )
  const after = new Date(Date.parse(times[0] ?? '') + 1).toISOString()
  t.same(idsOf(await page(`?from=${after}`)), [])
  for (const [query, path] of [
    ['?cursor=abc', 'cursor'],
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?status=lost', 'status'],
    ['?event=call.lost', 'event'],
    ['?endpointId=x', 'endpointId'],
    ['?from=yesterday', 'from'],
  ] as const) {
    const answer = await call(acme, 'GET', `/v1/webhook-deliveries${query}`)
    t.same(faultOf(answer), { status: 400, code: 'VALIDATION_ERROR', paths: [path] }, query)
  }
})

t.test('a test event of each type is delivered to its endpoint', async (t) => {
  const acme = await admin.organization('that tests')
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const wanted = {
    name: 'All',
    url: receiver.url,
    events: types,
    extractionFields: [{ name: 'city', type: 'string', description: 'The city' }],
    authHeaders: [{ name: 'x-secret', value: 'k4n4ry' }],
  }
  const { id } = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string }>()
  for (const event of types) {
    const tried = await call(acme, 'POST', `/v1/webhooks/${id}/test`, { event })
    t.equal(tried.status, 200, tried.text)
    const { deliveryId, ...result } = tried.json<{ deliveryId: string }>()
    const preCall = event === 'call.pre_call' ? { preCall: { valid: true, issues: [] } } : {}
    t.same(result, { delivered: true, httpStatus: 204, error: null, ...preCall })
    const { body, headers } = receiver.received.at(-1)!
    const payload = JSON.parse(body.toString()) as Record<string, unknown>
    t.match(payload, { type: event, test: true, organization_id: acme.id })
    if ('custom_data' in payload) t.same(payload['custom_data'], { city: null })
    t.equal(headers['x-secret'], 'k4n4ry')
    const logged = await call(acme, 'GET', `/v1/webhook-deliveries/${deliveryId}`)
    const { expiresAt, createdAt } = logged.json<{ expiresAt: string; createdAt: string }>()
    t.equal(expiresAt, createdAt, 'a test event is sent once')
    t.match(logged.json(), {
      status: 'succeeded',
      event,
      attemptCount: 1,
      sessionStored: false,
      requestPayload: payload,
      attempts: [{ trigger: 'manual', attemptNumber: 1, requestHeaders: { 'x-secret': '***' } }],
    })
    t.notMatch(logged.text, 'k4n4ry')
  }
  const first = await call(acme, 'POST', `/v1/webhooks/${id}/test`)
  t.match(first.json(), { delivered: true, preCall: { valid: true } }, 'without a type it is the first one')
})

t.test('a delivery tells whether its session can be read', async (t) => {
  const acme = await admin.organization('with a call')
  const tenant = { organizationId: acme.id, test: false }
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  for (const callId of [v7(), stored.id]) await recordDelivery(admin.store, tenant, v7(), { callId })
  const { data } = (await call(acme, 'GET', '/v1/webhook-deliveries')).json<Page>()
  t.match(data, [{ sessionId: stored.id, sessionStored: true }, { sessionStored: false }])
})

t.test('if the database fails after a test event or redelivery was sent, the response says not to retry', async (t) => {
  const acme = await admin.organization('without a disk')
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  const fill = (isFull: boolean) =>
    sql.unsafe(
      isFull
        ? `create function full_disk() returns trigger language plpgsql as $$
             begin raise exception using errcode = '53100'; end $$;
           create trigger full_disk before insert or update on webhook_deliveries for each row execute function full_disk()`
        : 'drop function if exists full_disk cascade',
    )
  t.teardown(() => fill(false))
  let fails = false
  const receiver = await startReceiver((response) => void fill(fails).then(() => response.writeHead(204).end()))
  t.teardown(() => receiver.close())
  const wanted = { name: 'Status', url: receiver.url, events: ['call.status'] }
  const { id } = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string }>()
  const { deliveryId } = (await call(acme, 'POST', `/v1/webhooks/${id}/test`)).json<{ deliveryId: string }>()
  fails = true
  for (const path of [`/v1/webhooks/${id}/test`, `/v1/webhook-deliveries/${deliveryId}/redeliver`]) {
    const count = receiver.received.length
    const answer = await call(acme, 'POST', path)
    t.match(faultOf(answer), { status: 503, code: 'SERVICE_UNAVAILABLE' }, path)
    t.equal(answer.headers.get('x-should-retry'), 'false', path)
    t.equal(receiver.received.length, count + 1)
    await fill(false)
  }
})

t.test('a test event that fails is not repeated, and a disabled endpoint can be tested', async (t) => {
  const acme = await admin.organization('that fails')
  const receiver = await startReceiver(
    inOrder(status(500), ok, status(410), (response) => response.end('{"voice": 7}')),
  )
  t.teardown(() => receiver.close())
  const wanted = { name: 'Status', url: receiver.url, events: ['call.status'] }
  const { id } = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string }>()
  const test = (event = 'call.status') => call(acme, 'POST', `/v1/webhooks/${id}/test`, { event })
  const failed = await test()
  t.match(failed.json(), { delivered: false, httpStatus: 500, error: 'http_status' })
  const { deliveryId } = failed.json<{ deliveryId: string }>()
  const logged = await call(acme, 'GET', `/v1/webhook-deliveries/${deliveryId}`)
  t.match(logged.json(), { status: 'failed', canRedeliver: true })
  await call(acme, 'PATCH', `/v1/webhooks/${id}`, { disabled: true })
  t.match((await test()).json(), { delivered: true })
  await call(acme, 'PATCH', `/v1/webhooks/${id}`, { disabled: false })
  t.match((await test()).json(), { delivered: false, httpStatus: 410 })
  t.match((await call(acme, 'GET', `/v1/webhooks/${id}`)).json(), { disabled: true, disabledReason: 'gone' })
  t.match((await test('call.pre_call')).json(), {
    delivered: true,
    preCall: { valid: false, issues: [{ path: '/voice' }] },
  })
  t.equal((await test('call.lost')).status, 400)
})
