/** Tests cross-origin reads of the built product: only pages from configured origins may read its responses. */
import t from 'tap'
import { freshDataDir } from '../installation.ts'
import { startParley } from './parley.ts'

t.test('a page of a configured origin may call the HTTP APIs, and other pages may not', async (t) => {
  const dataDir = freshDataDir()
  const parley = await startParley({ PARLEY_CORS_ORIGINS: 'https://app.example,https://admin.example:8443' }, dataDir)
  t.teardown(() => parley.remove())
  const ask = (path: string, origin: string, init: RequestInit = {}) =>
    fetch(parley.url + path, { ...init, headers: { authorization: `Bearer ${parley.key}`, origin, ...init.headers } })
  for (const path of ['/router/v1/models', '/v1/models', '/v1/providers', '/router/nowhere']) {
    for (const origin of ['https://app.example', 'https://admin.example:8443']) {
      const allowed = await ask(path, origin)
      t.equal(allowed.headers.get('access-control-allow-origin'), origin, `${path} ${origin}`)
      t.equal(allowed.headers.get('vary'), 'Origin', path)
    }
    for (const origin of ['https://evil.example', 'https://app.example:444', 'http://app.example', 'null']) {
      const refused = await ask(path, origin)
      t.equal(refused.headers.get('access-control-allow-origin'), null, `${path} ${origin}`)
    }
  }
  for (const path of ['/healthz', '/readyz', '/docs/ranking', '/try']) {
    const internal = await ask(path, 'https://app.example')
    t.equal(internal.headers.get('access-control-allow-origin'), null, path)
    t.equal(internal.headers.get('vary'), null, path)
  }
  const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } }
  const asked = await ask('/v1/chat/completions', 'https://app.example', preflight)
  t.equal(asked.status, 204)
  t.equal(asked.headers.get('access-control-allow-origin'), 'https://app.example')
  const allowed = (asked.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ')
  t.ok(allowed.includes('authorization') && allowed.includes('*'), 'a key, and the headers of client libraries')
  const answered = await ask('/v1/models', 'https://app.example')
  t.equal(answered.headers.get('access-control-expose-headers'), '*')
  t.equal(answered.headers.get('x-request-id'), answered.headers.get('service-request-id'))
})

t.test('without configured origins no page may call the HTTP APIs', async (t) => {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  const answer = await fetch(`${parley.url}/v1/models`, {
    headers: { authorization: `Bearer ${parley.key}`, origin: 'https://app.example' },
  })
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('access-control-allow-origin'), null)
})
