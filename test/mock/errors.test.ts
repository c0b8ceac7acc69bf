/** With the header Prefer a client asks for a status or an example, and gets it with the headers of the contract. */
import t from 'tap'
import { compatContract } from '../../generated/compat/contract.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { routerContract } from '../../generated/router/contract.ts'
import { type Envelope, pathOf, serve } from './setup.ts'

const { url, surfaces, request } = await serve(t)

type Header = { $ref?: string; required?: boolean }
type Declared = { headers?: Record<string, Header>; content?: Record<string, { examples?: object }> }
type Document = {
  paths: Record<
    string,
    Record<string, { operationId?: string; responses?: Record<string, { $ref?: string } & Declared> }>
  >
  components: { responses: Record<string, Declared>; headers: Record<string, { required?: boolean }> }
}

const documents: Record<string, string> = { router: routerContract, compat: compatContract, platform: platformContract }

for (const { name, contract } of surfaces)
  t.test(`the mock ${name} API answers each declared error if the Prefer header names its status`, async (t) => {
    const document = JSON.parse(documents[name]!) as Document
    let errors = 0
    for (const [id, operation] of contract.operations)
      for (const [status, declared] of errorsOf(document, id)) {
        const prefer = errors % 2 === 0 ? `code=${status}` : `status=${status}`
        // The generator has checked the examples against their schemas, so the response is only compared with its
        // example.
        const headers = { authorization: 'Bearer any', prefer }
        const answer = await fetch(url + pathOf(operation), { method: operation.method, headers })
        const body: unknown = await answer.json()
        errors += 1
        t.equal(answer.status, Number(status), `${id} ${status}`)
        t.equal(answer.headers.get('preference-applied'), `code=${status}`)
        const [media] = Object.values(declared.content ?? {})
        const examples = Object.values(media?.examples ?? {}) as { value: unknown }[]
        t.same(body, examples[0]?.value, `${id} ${status}: the first example`)
        for (const header of requiredHeaders(document, declared))
          t.ok(answer.headers.get(header), `${id} ${status} has ${header}`)
      }
    t.ok(errors > 40, `${errors} errors`)
  })

t.test('the Prefer header selects an example by its name', async (t) => {
  const body = JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'A table for four.' }] })
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', prefer: 'example=tool_call' } }
  const answer = await request('/v1/chat/completions', init)
  const { choices } = (await answer.json()) as { choices: { finish_reason: string }[] }
  t.equal(choices[0]?.finish_reason, 'tool_calls')
  t.equal(answer.headers.get('preference-applied'), 'example=tool_call')
  const error = await request('/v1/chat/completions', {
    ...init,
    headers: { prefer: 'code=429, example=request_in_progress' },
  })
  t.equal(((await error.json()) as Envelope).error.code, 'request_in_progress')
})

t.test('a Prefer header with an undeclared status or example is answered 400', async (t) => {
  for (const prefer of ['code=418', 'example=unknown', 'code=404, example="an unknown one"']) {
    const answer = await request('/v1/agents', { headers: { prefer } })
    t.equal(answer.status, 400, prefer)
    await answer.text()
  }
  const ignored = await request('/v1/agents', { headers: { prefer: 'wait=10, ((' } })
  t.equal(ignored.status, 200, 'other preferences are ignored')
})

t.test('simultaneous requests each get the status that their Prefer header names', async (t) => {
  const prefers = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'code=404' : 'code=429'))
  const answers = await Promise.all(prefers.map((prefer) => request(`/v1/agents/front-desk`, { headers: { prefer } })))
  t.same(
    answers.map(({ status }) => `code=${status}`),
    prefers,
  )
})

t.test('a request without a key is answered 401, except for operations without security', async (t) => {
  for (const { contract } of surfaces)
    for (const [id, operation] of contract.operations) {
      const { status } = await fetch(url + pathOf(operation), { method: operation.method })
      t.equal(status, open.has(id) ? 200 : 401, id)
    }
})

const open = new Set([
  ...['getOpenapi', 'getCompatContract', 'getRealtimeContract', 'getPlatformContract', 'getSessionContract'],
  ...['listCompatVoices', 'listCompatSpeechModels', 'listCompatModels'],
])

function errorsOf({ paths, components }: Document, id: string): [string, Declared][] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const { responses = {} } = operations.find(({ operationId }) => operationId === id) ?? {}
  const resolved = Object.entries(responses).map(([status, declared]): [string, Declared] => [
    status,
    declared.$ref === undefined ? declared : (components.responses[nameIn(declared.$ref)] ?? {}),
  ])
  return resolved.filter(([status]) => Number(status) >= 400)
}

function requiredHeaders({ components }: Document, { headers = {} }: Declared): string[] {
  const resolved = ({ $ref, required }: Header) =>
    $ref === undefined ? required : components.headers[nameIn($ref)]?.required
  return Object.entries(headers).flatMap(([name, header]) => (resolved(header) === true ? [name] : []))
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}
