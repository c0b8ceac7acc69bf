/** Tests the served contracts' WebSocket URLs and credentials, and the responses to unknown paths. */
import http from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { ownServer, serverWith } from '../server.ts'
import { call, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const acme = await admin.organization('that reads documents')
type Sockets = { servers: Record<string, { host: string; protocol: string; pathname?: string; security?: object[] }> }
const documents = ['/asyncapi/realtime.json', '/asyncapi/session.json']

t.test('a served AsyncAPI document lists the sockets at the host of the request', async (t) => {
  for (const path of documents) {
    const { servers } = (await call(acme, 'GET', path)).json<Sockets>()
    t.match(servers, { local: { host: new URL(parley.url).host, protocol: 'ws', security: Array } }, path)
    t.match(await at(parley.url, path, 'voice.example:8443'), { local: { host: 'voice.example:8443', protocol: 'ws' } })
  }
})

t.test("a served AsyncAPI document lists the server's own host if the Host header is invalid", async (t) => {
  for (const host of ['x:99999', 'a%b'])
    t.match(await at(parley.url, '/asyncapi/realtime.json', host), {
      local: { protocol: 'ws', host: /^127\.0\.0\.1:\d+$/ },
    })
})

t.test('a served AsyncAPI document lists the sockets at the public URL, with its scheme and path', async (t) => {
  const behind = await serverWith({ PARLEY_PUBLIC_URL: 'https://voice.example/parley' })
  for (const path of documents)
    t.match(await at(behind.url, path, 'inside:1'), {
      local: { host: 'voice.example', protocol: 'wss', pathname: '/parley' },
    })
})

t.test('operations for rich messages (scope `rmsg`) accept only an API key', async (t) => {
  type Operation = { 'x-scope'?: string; security?: object[] }
  const { paths } = (await call(acme, 'GET', '/openapi/platform.json')).json<{
    paths: Record<string, Record<string, Operation>>
  }>()
  const all = Object.values(paths).flatMap((methods) => Object.values(methods))
  const ofKeys = all.filter((operation) => operation['x-scope'] === 'rmsg')
  t.equal(ofKeys.length, 8)
  for (const { security } of ofKeys) t.same(security, [{ bearer: [] }])
})

t.test('every path of the platform API begins with /v1/, except the paths of the documents', async (t) => {
  const { paths } = (await call(acme, 'GET', '/openapi/platform.json')).json<{ paths: object }>()
  const others = Object.keys(paths).filter((path) => !path.startsWith('/v1/'))
  t.same(others, ['/openapi/platform.json', '/asyncapi/session.json'], 'but the documents')
})

t.test('an unknown path is answered 404 with the nearest path of the same API', async (t) => {
  const unknown: [path: string, near: string][] = [
    ['/v1/agents/x/y/z', '/v1/agents/{'],
    ['/v1/calls/1/transfers/2/3/4', '/v1/calls/{'],
    ['/v1/phone-numbers/a/b', '/v1/phone-numbers'],
    ['/v1/webhook-deliveries/a/again', '/v1/webhook-deliveries'],
  ]
  for (const [path, near] of unknown) {
    const answer = await call(acme, 'GET', path)
    const { error, code } = answer.json<{ error: string; code: string }>()
    t.same([answer.status, code, typeof error], [404, 'NOT_FOUND', 'string'], answer.text)
    t.ok(error.includes(`Did you mean ${near}`), error)
  }
  for (const path of ['/v1/audio/speeches', '/v1/chat/completion'])
    t.match((await call(acme, 'GET', path)).json(), { error: { code: 'not_found' } }, path)
})

t.test('the engine `node` compares Idempotency-Key values by every byte', async (t) => {
  const server = await ownServer(t, { PARLEY_ENGINE: 'node' })
  const ask = (key: string, input: string) => {
    const body = JSON.stringify({ input: [message(input)], max_output_tokens: 10 })
    const bytes = Buffer.from(key).toString('latin1')
    const headers = {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/json',
      'idempotency-key': bytes,
    }
    return new Promise<unknown>((resolve, reject) => {
      const request = http.request(`${server.url}/router/v1/llm/responses`, { method: 'POST', headers }, (response) => {
        void text(response).then((said) => resolve(response.statusCode === 400 ? said : response.statusCode), reject)
      })
      // The body is sent as bytes. As text, node:http would write it together with the headers, which would become
      // UTF-8.
      request.on('error', reject).end(Buffer.from(body))
    })
  }
  const keys = ['日本-1', '中国-1', 'é-1', '-1', '1-é', '1-ü', '1-', 'é'.repeat(128)]
  for (const [at, key] of keys.entries()) t.equal(await ask(key, `Hello ${at}`), 200, key)
  t.equal(await ask('日本-1', 'Hello again'), 409, 'its own repeat')
  t.match(await ask(`y${'é'.repeat(128)}`, 'Hello'), /longer than 256 bytes/)
})

const message = (words: string) => ({ type: 'message', role: 'user', content: [{ type: 'text', text: words }] })

/** Sends a request over node:http, because fetch does not allow to set Host. */
function at(url: string, path: string, host: string): Promise<Sockets['servers']> {
  return new Promise((resolve, reject) => {
    http
      .get(url + path, { headers: { host } }, (response) => {
        void text(response).then((body) => resolve((JSON.parse(body) as Sockets).servers), reject)
      })
      .on('error', reject)
  })
}
