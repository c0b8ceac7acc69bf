/** The send from a number was removed: without the operator's setting it answers so. */
import t from 'tap'
import { call, faultOf, startAdministered } from '../platform/setup.ts'
import { postJson } from '../router/requests.ts'

const { parley, admin } = await startAdministered(t)

t.test('ENDPOINT_REMOVED: after the gates, with the headers of a removed operation', async (t) => {
  const [number] = (await call(parley, 'GET', '/v1/rmsg-phone-numbers')).json<[{ id: string }]>()
  const path = `/v1/rmsg-phone-numbers/${number.id}/messages`
  const message = { to: '+15005550030', text: 'Hello' }
  const removed = await postJson(parley, path, message)
  t.same(faultOf(removed), { status: 410, code: 'ENDPOINT_REMOVED' })
  t.equal(removed.headers.get('deprecation'), '@1778889600')
  t.equal(removed.headers.get('sunset'), 'Fri, 14 Aug 2026 00:00:00 GMT')
  t.equal(removed.headers.get('link'), '</v1/rmsg/{agentId}/messages>; rel="successor-version"')
  t.equal((await postJson({ ...parley, key: '' }, path, message)).status, 401)
  const off = await admin.organization('without numbers', { scopes: ['rmsg'] })
  t.same(faultOf(await postJson(off, path, message)), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' })
})
