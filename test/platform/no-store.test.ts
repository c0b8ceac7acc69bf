/**
 * No cache may store an answer with content or secrets, for any method, because a page with a cookie may send any
 * method.
 */
import t from 'tap'
import { call, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

type Operation = { operationId: string; 'x-scope'?: string; 'x-no-store'?: boolean; responses: Responses }
type Responses = Record<string, { content?: object; headers?: Record<string, object> }>
type Document = { paths: Record<string, Record<string, Operation>> }

t.test('answers to reads and changes have Cache-Control: no-store, except the public list of models', async (t) => {
  const acme = await admin.organization('without caches', { scopes: ['platform', 'admin'] })
  const agent = { name: 'a', systemPrompt: 'x', intent: { language: 'en' } }
  const { id } = (await call(acme, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const { sessionId } = (await call(acme, 'POST', '/v1/sessions', { agentId: id })).json<{ sessionId: string }>()
  const asked: [method: 'GET' | 'PATCH' | 'PUT', path: string, body?: object][] = [
    ['GET', '/v1/webhook-secret'],
    ['GET', '/v1/agents'],
    ['GET', `/v1/agents/${id}`],
    ['PATCH', `/v1/agents/${id}`, {}],
    ['GET', '/v1/sessions'],
    ['GET', `/v1/sessions/${sessionId}`],
    ['GET', `/v1/sessions/${sessionId}/transcript`],
    ['GET', `/v1/calls/${sessionId}`],
    ['GET', `/v1/calls/${sessionId}/events`],
    ['GET', '/v1/webhook-deliveries'],
    ['GET', '/v1/organization'],
    ['GET', '/v1/usage'],
  ]
  for (const [method, path, body] of asked) {
    const answer = await call(acme, method, path, body)
    t.same([answer.status, answer.headers.get('cache-control')], [200, 'no-store'], `${method} ${path}`)
  }
  const models = await call(acme, 'GET', '/v1/models')
  t.equal(models.headers.get('cache-control'), null, 'a public list may be kept')
})

t.test('the contract lists Cache-Control for every authenticated operation that returns a body', async (t) => {
  const acme = await admin.organization('that reads the document')
  const { paths } = (await call(acme, 'GET', '/openapi/platform.json')).json<Document>()
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      if (operation['x-scope'] === undefined || method === 'delete') continue
      t.ok(method === 'post' || operation['x-no-store'], `${method} ${path}`)
      for (const [status, { content, headers }] of Object.entries(operation.responses))
        if (status.startsWith('2') && content) t.ok(headers?.['Cache-Control'], `${operation.operationId} ${status}`)
    }
})
