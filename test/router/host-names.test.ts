/** Tests an API that the operator serves at its own host name, and header names with the operator's prefix. */
import http from 'node:http'
import t from 'tap'
import { serverWith } from '../server.ts'
import { specification } from './oracle.ts'
import { type Answer, send, type Target } from './requests.ts'

t.test('an API with a host name is served at this host, and its answers name the host', async (t) => {
  const own = await serverWith({
    PARLEY_HEADER_PREFIX: 'Acme',
    PARLEY_REGION: 'north-1',
    PARLEY_SURFACES_ROUTER_HOST: 'router.example',
    PARLEY_SURFACES_REALTIME_HOST: 'sockets.example',
  })
  const at = (host: string, path: string) => getAt(own, host, path)
  const models = await at('router.example', '/v1/models')
  t.equal(models.status, 200)
  const rows = models.json<{ models: { regions: string[] }[] }>().models
  t.ok(rows.length > 0 && rows.every(({ regions }) => regions.join() === 'north-1'), 'the region of this router')
  t.match(models.headers.get('acme-request-id'), /^req_/)
  t.equal(models.headers.get('acme-region'), 'north-1')
  t.notOk([...models.headers.keys()].some((name) => name.startsWith('service-')))
  const missing = await at('Router.Example:8080', '/v2/models')
  t.equal(missing.json().error.code, 'not_found')
  t.equal(missing.json().error.request_id, missing.headers.get('acme-request-id'))
  const document = await at('router.example', '/openapi.json')
  const { servers, ...said } = document.json<{ servers: { url: string }[] }>()
  t.match(servers, [{ url: '/', description: /router\.example/ }], 'the contract says so too')
  t.equal(servers.length, 1)
  const renamed = JSON.stringify(specification).replaceAll(/\bService-(?=[A-Z])/g, 'Acme-')
  t.same(
    { ...said, servers: (specification as { servers?: object }).servers },
    JSON.parse(renamed),
    'and nothing else differs',
  )
  const sockets = (await at('127.0.0.1', '/asyncapi/realtime.json')).json<{ servers: object }>()
  t.match(sockets.servers, {
    plain: { host: 'sockets.example', protocol: 'ws', security: [{}, {}] },
    tls: { host: 'sockets.example', protocol: 'wss' },
  })
  t.equal((await at('127.0.0.1', '/router/v1/models')).status, 404, 'nowhere else')
  const wrong = { 'content-type': 'audio/wav', 'x-acme-intent': '{' }
  const refused = await send(own, '/v1/transcribe', { method: 'POST', body: 'RIFF', headers: wrong })
  t.equal(refused.json().error.param, 'x-acme-intent')
  t.equal((await at('router.example', '/healthz')).status, 200)
  t.equal((await at('127.0.0.1', '/healthz')).headers.get('acme-region'), 'north-1')
})

/** Sends a request over node:http, because fetch does not allow to set Host. */
function getAt(target: Target, host: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${target.key}` }
    http
      .get(target.url + path, { headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const { statusCode: status = 0 } = response
          const received = new Headers(response.headers as Record<string, string>)
          resolve({ status, headers: received, text, json: <T>() => JSON.parse(text) as T })
        })
      })
      .on('error', reject)
  })
}
