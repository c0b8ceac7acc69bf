/** `parley conform` against servers that break off, hang or serve broken documents: the report lists the failure. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { conform, type Report } from '../../conform/conform.ts'
import { type Limits, usualLimits } from '../../conform/limits.ts'
import { NoAnswer } from '../../conform/read-surfaces.ts'
import { released } from '../../conform/surfaces.ts'

type Respond = (request: IncomingMessage, response: ServerResponse, document: string | null) => void

const serveDocument: Respond = (_request, response, document) => {
  if (document === null) response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end(document)
}

/** Starts a server with this release's documents. `respond` answers requests in another way. */
async function serve(t: Test, respond: Respond): Promise<string> {
  const server = createServer((request, response) => {
    const document = released.find(([, path]) => path === request.url)?.[2] ?? null
    respond(request, response, document)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const key = `sk_live_${'a'.repeat(48)}`
/** For silent servers. On a busy machine even a document may take half a second. */
const shortLimits = { ...usualLimits, answerMs: 1000, frameMs: 1000 }
const json = { 'content-type': 'application/json' }

type More = { signal?: AbortSignal; spends?: boolean; limits?: Limits }

const check = (url: string, only: readonly string[], more: More = {}): Promise<Report> => {
  const keys = { key, testKey: null, keyOfLesserScope: null }
  return conform({ url, keys, spends: false, strict: true, recordTo: null, only, limits: usualLimits, ...more })
}

const failures = ({ targets }: Report, id: string) => {
  const target = targets.find((each) => each.id === id)
  return (target?.outcomes ?? []).filter(({ verdict }) => verdict === 'failed')
}
const messagesOf = (report: Report, id: string) => failures(report, id).flatMap(({ messages }) => messages)

t.test('a cut connection is a failure of its operation, and the run goes on', async (t) => {
  const url = await serve(t, (request, response, document) => {
    if (document === null && request.url?.startsWith('/v1/agents')) request.socket.destroy()
    else serveDocument(request, response, document)
  })
  const report = await check(url, ['getAgent', 'listCompatModels'])
  t.equal(report.ended, null)
  t.match(messagesOf(report, 'getAgent').join(), /GET \/v1\/agents\/\w+ has no answer/)
  t.ok(failures(report, 'listCompatModels').length > 0, 'the next operation is checked')
})

t.test('an operation that never answers is a failure after the time limit, and the run goes on', async (t) => {
  const url = await serve(t, (request, response, document) => {
    if (!request.url?.startsWith('/v1/agents')) serveDocument(request, response, document)
  })
  const report = await check(url, ['getAgent', 'listCompatModels'], { limits: shortLimits })
  t.match(messagesOf(report, 'getAgent').join(), /has no answer: it took longer than 1 s/)
  const [target] = report.targets.filter(({ id }) => id === 'getAgent')
  t.match(JSON.stringify(target), /3 checks before got no answer/)
  t.ok(failures(report, 'listCompatModels').length > 0, 'the next operation is checked')
})

t.test('a body that never ends is a failure of its operation', async (t) => {
  const url = await serve(t, (request, response, document) => {
    if (document !== null) return serveDocument(request, response, document)
    response.writeHead(200, { 'content-type': 'application/json' }).write('{')
  })
  const report = await check(url, ['listCompatModels'], { limits: shortLimits })
  t.match(messagesOf(report, 'listCompatModels').join(), /it took longer than 1 s/)
})

t.test('if the server dies, the run ends and the report says so', async (t) => {
  let isAlive = true
  const url = await serve(t, (request, response, document) => {
    if (request.url?.startsWith('/v1/agents') || request.method === 'POST') isAlive = false
    if (isAlive) serveDocument(request, response, document)
    else request.socket.destroy()
  })
  const report = await check(url, ['getAgent', 'listCompatModels'])
  t.equal(report.ended, 'the server no longer answers')
  t.match(JSON.stringify(report.targets.find(({ id }) => id === 'listCompatModels')), /the run ended before/)
})

t.test('each unreadable contract document is reported as a failure, and the other documents are checked', async (t) => {
  const loop = { $ref: '#/components/schemas/Loop' }
  const seeds: [name: string, text: (document: string) => string, message: RegExp][] = [
    ['text that is not JSON', () => '{"openapi":', /cannot be read: .*JSON/],
    ['a list', () => '[]', /the document is not an object/],
    ['paths without operations', () => '{"openapi":"3.1.0","paths":{"/a":null}}', /cannot be read/],
    [
      'a reference to itself',
      (text) => changed(text, (schemas) => Object.assign(schemas, { Loop: loop, Agent: loop })),
      /Loop does not exist, or leads back to itself/,
    ],
    [
      'a union with itself',
      (text) =>
        changed(text, (schemas) => Object.assign(schemas, { Loop: { oneOf: [{ allOf: [loop] }] }, Agent: loop })),
      /Loop does not exist, or leads back to itself/,
    ],
    [
      'a reference to nothing',
      (text) => text.replaceAll('#/components/schemas/Agent"', '#/components/schemas/Nothing"'),
      /Nothing does not exist/,
    ],
  ]
  for (const [name, change, message] of seeds)
    await t.test(name, async (t) => {
      const url = await serve(t, (request, response, document) => {
        const isChanged = request.url === '/openapi/platform.json' && document !== null
        serveDocument(request, response, isChanged ? change(document) : document)
      })
      const report = await check(url, ['platform', 'getAgent', 'realtime'])
      t.equal(report.ended, null)
      t.match(messagesOf(report, 'platform').join(), message)
      t.same(failures(report, 'realtime'), [])
    })
})

function changed(text: string, change: (schemas: object) => void): string {
  const document = JSON.parse(text) as { components: { schemas: object } }
  change(document.components.schemas)
  return JSON.stringify(document)
}

t.test('no answer from the server throws NoAnswer, and each missing contract document is a failure', async (t) => {
  const silent = await serve(t, (request) => void request.socket.destroy())
  const error = await check(silent, []).catch((thrown: unknown) => thrown)
  t.ok(error instanceof NoAnswer, String(error))
  const empty = await serve(t, (request, response) => serveDocument(request, response, null))
  const report = await check(empty, [])
  t.same(
    report.targets.map(({ id }) => failures(report, id).map(({ check }) => check)),
    released.map(() => [1]),
  )
})

t.test('an interrupted run deletes its resources, and lists the resources that it could not delete', async (t) => {
  const interrupt = new AbortController()
  const deleted: string[] = []
  let made = 0
  const url = await serve(t, (request, response, document) => {
    if (document !== null) return serveDocument(request, response, document)
    request.resume()
    if (request.method === 'POST' && request.url === '/v1/webhooks') {
      response.writeHead(201, json).end(JSON.stringify({ id: `whk_${++made}` }))
      if (made === 3) interrupt.abort(new Error('it was interrupted'))
    } else if (request.method === 'DELETE') {
      deleted.push(request.url ?? '')
      response.writeHead(request.url?.endsWith('_2') ? 500 : 204).end()
    } else response.writeHead(404).end()
  })
  const report = await check(url, ['createWebhook', 'getAgent'], { signal: interrupt.signal })
  t.equal(report.ended, 'it was interrupted')
  t.ok(deleted.includes('/v1/webhooks/whk_1'), deleted.join())
  t.same(report.left, ['whk_2: deleteWebhook is answered 500'])
  t.match(
    JSON.stringify(report.targets.find(({ id }) => id === 'getAgent')),
    /the run ended before: it was interrupted/,
  )
})

/** Serves a list of one provider whose key has this source, and accepts every new key. */
const serveProvider = (t: Test, source: 'BYOK' | null, deleted: string[]) =>
  serve(t, (request, response, document) => {
    if (document !== null) return serveDocument(request, response, document)
    request.resume()
    const provider = { provider: 'acme', stages: ['llm'], configured: true, source }
    if (request.method === 'GET') return response.writeHead(200, json).end(JSON.stringify([provider]))
    if (request.method === 'DELETE') deleted.push(request.url ?? '')
    response.writeHead(request.method === 'PUT' ? 200 : 204, json)
    response.end(request.method === 'PUT' ? JSON.stringify({ ...provider, source: 'BYOK' }) : undefined)
  })

t.test('a run with --spend deletes its provider key, and replaces no key of the organization', async (t) => {
  const deleted: string[] = []
  const report = await check(await serveProvider(t, null, deleted), ['putProviderKey'], { spends: true })
  t.ok(deleted.includes('/v1/providers/acme'), deleted.join())
  t.same(report.left, [])
  const { targets } = await check(await serveProvider(t, 'BYOK', []), ['putProviderKey'], { spends: true })
  t.match(JSON.stringify(targets), /every provider has a key of the organization/)
})

t.test('if only one of two requests with one idempotency key is answered, its phone call is ended', async (t) => {
  const made: string[] = []
  const ended = new Set<string>()
  const keys = new Set<string>()
  const url = await serve(t, (request, response, document) => {
    if (document !== null) return serveDocument(request, response, document)
    request.resume()
    const idempotencyKey = request.headers['idempotency-key']
    if (typeof idempotencyKey === 'string' && request.url === '/v1/sessions/phone') {
      if (request.headers.authorization !== `Bearer ${key}`) return response.writeHead(401).end()
      if (Number(request.headers['content-length']) > 1_000_000) return response.writeHead(413).end()
      // The second request with a key gets no answer.
      if (keys.has(idempotencyKey)) return request.socket.destroy()
      keys.add(idempotencyKey)
      made.push(`call_${made.length}`)
      response.writeHead(200, json).end(JSON.stringify({ sessionId: made.at(-1) }))
    } else if (request.url?.endsWith('/end')) {
      ended.add(request.url.split('/').at(-2) ?? '')
      response.writeHead(200, json).end('{}')
    } else response.writeHead(404).end()
  })
  await check(url, ['createPhoneSession'], { spends: true })
  t.ok(made.length > 2, `${made.length} calls`)
  t.same([...ended].sort(), [...made].sort())
})
