/** While the database is unreachable, each error asks the client to repeat the request, and never says "not found". */
import t from 'tap'
import { ownServer } from '../server.ts'
import { TestCluster } from '../store/cluster.ts'
import { call, faultOf } from './setup.ts'

t.test('while the database is unreachable, a request is answered 503 with Retry-After', async (t) => {
  const cluster = await TestCluster.startOwn()
  const parley = await ownServer(t, { DATABASE_URL: await cluster.database('empty') })
  const body = { name: 'Front desk', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const { id } = (await call(parley, 'POST', '/v1/agents', body)).json<{ id: string }>()
  await call(parley, 'PATCH', '/v1/organization', {})
  await cluster.stop()
  for (const [method, path, sent] of [
    ['GET', '/v1/agents'],
    ['GET', `/v1/agents/${id}`],
    ['POST', '/v1/agents', { ...body, name: 'Other' }],
    ['PATCH', `/v1/agents/${id}`, { voice: 'x' }],
    ['DELETE', `/v1/agents/${id}`],
    ['GET', `/v1/agents/${id}/tools`],
    ['GET', '/v1/organization'],
    ['GET', '/v1/providers'],
  ] as const) {
    const answer = await call(parley, method, path, sent)
    t.match(faultOf(answer), { status: 503, code: 'SERVICE_UNAVAILABLE' }, `${method} ${path}`)
    t.equal(answer.headers.get('retry-after'), '1')
    t.notMatch(answer.text, 'Idempotency-Key')
  }
})
