/**
 * Tests the removed operation that sends a message from a number. Unless the operator's setting keeps it, its response
 * says that it was removed.
 */
import t from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { postJson } from '../router/requests.ts'

const { parley, admin } = await startOwnAdministered(t)

t.test('a removed operation is answered ENDPOINT_REMOVED with Deprecation, Sunset and Link', async (t) => {
  const [number] = (await call(parley, 'GET', '/v1/rmsg-phone-numbers')).json<[{ id: string }]>()
  const path = `/v1/rmsg-phone-numbers/${number.id}/messages`
  const message = { to: '+15005550030', text: 'Hello' }
  const removed = await postJson(parley, path, message)
  t.same(faultOf(removed), { status: 410, code: 'ENDPOINT_REMOVED' })
  t.equal(removed.headers.get('deprecation'), '@1778889600')
  t.equal(removed.headers.get('sunset'), 'Fri, 14 Aug 2026 00:00:00 GMT')
  t.equal(removed.headers.get('link'), '</v1/rmsg/{agentId}/messages>; rel="successor-version"')
  const tags = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, 'v']))
  const bodies = ['{ no JSON', '', JSON.stringify({ ...message, tags }), JSON.stringify({ ...message, text: '' })]
  for (const body of bodies)
    t.same(faultOf(await postJson(parley, path, body)), { status: 410, code: 'ENDPOINT_REMOVED' }, `before ${body}`)
  const key = { 'idempotency-key': 'one key' }
  for (const text of ['Hello', 'Something else'])
    t.match(await postJson(parley, path, { ...message, text }, key), { status: 410 }, 'a key that was used')
  for (const headers of [{ 'idempotency-key': '' }, { 'content-type': 'text/plain' }])
    t.match(await postJson(parley, path, message, headers), { status: 410 })
  t.match(await postJson(parley, '/v1/rmsg-phone-numbers/x/messages', message), { status: 410 }, 'for any number')
  t.equal((await postJson({ ...parley, key: '' }, path, '{ no JSON')).status, 401)
  const platform = { ...parley, ...(await admin.key((await admin.organization('no scope')).id)) }
  t.same(faultOf(await postJson(platform, path, '{ no JSON')), { status: 403, code: 'FORBIDDEN' })
  const off = await admin.organization('without numbers', { scopes: ['rmsg'] })
  t.same(faultOf(await postJson(off, path, '{ no JSON')), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' })
})
