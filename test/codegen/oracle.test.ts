/** The check that runs on all JSON responses in the tests finds wrong responses of each API. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { platformContract } from '../../generated/platform/contract.ts'
import { judgedFetch } from '../oracle.ts'

const answers = new Map<string, { status: number; body: unknown }>()
const server = createServer((request, response) => {
  const { status, body } = answers.get(`${request.method} ${request.url}`) ?? { status: 404, body: { any: 'thing' } }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())

function answered(name: string, status: number, body: unknown): Promise<Response> {
  answers.set(name, { status, body })
  const [method = '', path = ''] = name.split(' ')
  return judgedFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method })
}

const organization = {
  id: 'org_1',
  name: 'Acme',
  smsEnabled: false,
  rmsgEnabled: false,
  rmsgLegacyInventory: false,
}

t.test('a body that breaks the contract is reported', async (t) => {
  await t.rejects(answered('GET /v1/organization', 200, organization), /getOrganization\) 200:.* required property/)
  await t.rejects(answered('GET /router/v1/models?language=en', 200, { models: {} }), /listModels\) 200/)
  await t.rejects(answered('POST /v1/chat/completions', 200, { id: 7 }), /createChatCompletion\) 200/)
  await t.rejects(answered('GET /healthz', 200, { status: 'fine' }), /getHealth\) 200: \/status must be/)
  await t.resolves(answered('GET /healthz', 200, { status: 'ok' }))
})

t.test('an undeclared status is reported, and so is JSON where the operation declares no JSON', async (t) => {
  await t.rejects(answered('GET /healthz', 418, {}), /getHealth\) 418 is not declared/)
  await t.rejects(answered('POST /v1/audio/speech', 200, {}), /has no JSON in the contract/)
})

t.test("an error without its API's error body is reported", async (t) => {
  const ofRouter = { error: { code: 'not_found', message: 'No.' } }
  await t.rejects(answered('GET /v1/agents/agent_1', 404, ofRouter), /getAgent\) 404/)
})

t.test('an answer with a field that exists only in requests is reported', async (t) => {
  const { paths } = JSON.parse(platformContract) as { paths: Record<string, Examples> }
  const { examples = {} } = paths['/v1/phone-numbers/{id}']?.get.responses['200'].content['application/json'] ?? {}
  const [number] = Object.values(examples).map(({ value }) => value)
  const withTool = (source: object) => {
    const tool = { name: 'find_order', description: 'Finds an order.', parameters: { type: 'object' }, source }
    return answered('GET /v1/phone-numbers/number_1', 200, { ...number, dispatchMetadataTemplate: { tools: [tool] } })
  }
  const source = { kind: 'webhook', url: 'https://shop.example/tools' }
  await t.resolves(withTool(source))
  await t.rejects(withTool({ ...source, secret: 'whsec_hush' }), /\/dispatchMetadataTemplate\/tools\/0\/source/)
})

type Examples = {
  get: { responses: { '200': { content: { 'application/json': { examples: Record<string, { value: object }> } } } } }
}

t.test('a response to a path or method that is no operation of the contract is not checked', async (t) => {
  await t.resolves(answered('GET /v1/nothing', 404, { any: 'thing' }))
  await t.resolves(answered('DELETE /healthz', 405, { any: 'thing' }))
})
