/** Tests the page /try over HTTP: its files, and which clients get it. */
import t from 'tap'
import { ask, secret, serve } from './try-server.ts'

const names = [
  ...['app.js', 'audio.js', 'copying.js', 'curl.js', 'node.js', 'python.js', 'speech-request.js', 'saving.js'],
  ...['lists.js', 'route.js', 'server.js', 'style.css', 'tokens.css', 'worklet.js'],
  ...['microphone.js', 'reach.js', 'page-speaker.js'],
  ...['agent.css', 'agent.js', 'agent-server.js', 'agent-turns.js', 'languages.js', 'waterfall.js'],
  ...['session-audio.js', 'session-client.js', 'session-socket.js', 'session-worklet.js'],
  ...['end-words.js', 'frame-cutter.js', 'playout.js', 'resampler.js'],
]
const pages = ['/try', ...names.map((name) => `/try/${name}`)]

t.test('each script that a page imports is served', async (t) => {
  const server = await serve(t)
  for (const path of pages.filter((page) => page.endsWith('.js'))) {
    const { body } = await ask(server, 'GET', path)
    for (const [, name = ''] of body.matchAll(/from '\.\/([\w-]+\.js)'/g))
      t.ok(names.includes(name), `${path}: ${name}`)
  }
})

t.test('the page /try and its files are served', async (t) => {
  const server = await serve(t)
  const host = new URL(server.url).host
  for (const path of pages) {
    const { status, headers, body } = await ask(server, 'GET', path)
    t.equal(status, 200, path)
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'microphone=(self)',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
    })
    const policy = headers['content-security-policy'] ?? ''
    t.match(policy, /^default-src 'none'; script-src 'self';/)
    t.ok(policy.includes(`connect-src 'self' ws://${host} wss://${host};`))
    t.notMatch(policy, /unsafe|\*/)
    t.notMatch(body, /https?:\/\/|\/\/[a-z]+\.|sk_(live|test)_/, 'names no other origin and no key')
  }
  t.match((await ask(server, 'GET', '/try')).headers['content-type'], 'text/html')
  t.match((await ask(server, 'GET', '/try/worklet.js')).headers['content-type'], 'text/javascript')
  t.match((await ask(server, 'GET', '/try/style.css')).headers['content-type'], 'text/css')
  t.equal((await ask(server, 'GET', '/try/secret.js')).status, 404)
})

t.test('the icon and robots.txt are served to clients on every machine', async (t) => {
  const server = await serve(t)
  const elsewhere = { host: 'voice.example.com' }
  const icon = await ask(server, 'GET', '/favicon.ico', elsewhere)
  t.match([icon.status, icon.headers['content-type'], icon.body], [200, 'image/svg+xml', /^<svg .*<\/svg>$/])
  const robots = await ask(server, 'GET', '/robots.txt', elsewhere)
  t.match([robots.status, robots.headers['content-type'], robots.body], [200, /^text\/plain/, 'Disallow: /'])
})

t.test('the page /try gets a token, but a page of a foreign origin does not', async (t) => {
  const server = await serve(t)
  const own = { origin: server.url }
  const { status, headers, body } = await ask(server, 'POST', '/try/token', own)
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.same(JSON.parse(body), {
    client_secret: { value: secret, expires_in: 60 },
    subprotocol: 'acme.realtime.v1',
    credential_prefix: 'acme.ephemeral.',
  })
  const port = new URL(server.url).port
  const foreign = [
    '',
    'null',
    'https://evil.example',
    `http://127.0.0.1.evil:${port}`,
    'http://127.0.0.1',
    `http://localhost:${port}`,
  ]
  for (const origin of foreign) {
    const answer = await ask(server, 'POST', '/try/token', origin === '' ? {} : { origin })
    t.equal(answer.status, 403, origin)
    t.match(JSON.parse(answer.body), { error: { code: 'origin_not_allowed' } })
    t.notMatch(answer.body, secret)
  }
  t.equal((await ask(server, 'GET', '/try/token', own)).status, 405)
})

t.test('a request for /try from another machine is answered like an unknown path', async (t) => {
  const server = await serve(t)
  const elsewhere: Record<string, string>[] = [
    // An attacker's host name can point to this machine, so the name in Host must be checked.
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: '192.168.1.20:8080', origin: 'http://192.168.1.20:8080' },
    { host: '127.0.0.1.evil.example', origin: 'http://127.0.0.1.evil.example' },
    // A proxy on this machine may forward requests of clients on other machines.
    { 'x-forwarded-for': '203.0.113.9', origin: server.url },
  ]
  for (const headers of elsewhere) {
    for (const path of [...pages, '/try/route?stage=stt']) {
      const { status, body } = await ask(server, 'GET', path, headers)
      t.equal(status, 404, `${path} ${JSON.stringify(headers)}`)
      const { error } = JSON.parse(body) as { error: object }
      const unknown = await ask(server, 'GET', '/unknown', headers)
      const text = unknown.body.replace('/unknown', path.split('?')[0] ?? '')
      t.same({ ...error, request_id: '' }, { ...(JSON.parse(text) as { error: object }).error, request_id: '' })
    }
    t.equal((await ask(server, 'POST', '/try/token', headers)).status, 404)
  }
})

t.test('if the server has no local API key, the page /try is served, but gets no token', async (t) => {
  const keyless = await serve(t, { caller: () => null })
  for (const path of pages) t.equal((await ask(keyless, 'GET', path)).status, 200, path)
  t.match((await ask(keyless, 'GET', '/try')).body, 'data-key="asked"')
  t.equal((await ask(keyless, 'POST', '/try/token', { origin: keyless.url })).status, 404)
  t.equal((await ask(keyless, 'GET', '/try/route?stage=stt')).status, 404, 'so it asks for a key')
})

t.test('other machines get the page /try if the operator allows it, but never a token', async (t) => {
  const open = await serve(t, { isOpen: true })
  const elsewhere = { host: 'voice.example', 'x-forwarded-for': '203.0.113.9' }
  for (const path of pages) t.equal((await ask(open, 'GET', path, elsewhere)).status, 200, path)
  const { headers, body } = await ask(open, 'GET', '/try', elsewhere)
  t.match(headers['content-security-policy'], "connect-src 'self' ws://voice.example wss://voice.example;")
  t.match(body, 'data-prefix="acme"', 'it knows how subprotocols are spelled')
  t.match(body, 'data-key="asked"', 'it asks for a key')
  t.match((await ask(open, 'GET', '/try')).body, 'data-key="local"', 'on this machine it needs no key')
  const strange = await ask(open, 'GET', '/try', { host: 'a;script-src*' })
  t.notMatch(strange.headers['content-security-policy'] ?? '', /\*/, 'a Host adds nothing to the policy')
  t.equal((await ask(open, 'POST', '/try/token', { ...elsewhere, origin: 'http://voice.example' })).status, 404)
  t.equal((await ask(open, 'GET', '/try/route?stage=stt', elsewhere)).status, 404)
})

t.test('getRoot redirects a browser to /try', async (t) => {
  const server = await serve(t)
  const open = await serve(t, { isOpen: true })
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
  for (const [at, headers] of [
    [server, browser],
    [open, { ...browser, 'x-forwarded-for': '203.0.113.9' }],
  ] as const) {
    const sent = await ask(at, 'GET', '/', headers)
    t.equal(sent.status, 302)
    t.match(sent.headers, { location: '/try', 'cache-control': 'no-store' })
  }
  for (const headers of [
    {},
    { accept: '*/*' },
    { ...browser, host: 'evil.example' },
    { ...browser, 'x-forwarded-for': '203.0.113.9' },
  ]) {
    const { status, body } = await ask(server, 'GET', '/', headers)
    t.equal(status, 200, JSON.stringify(headers))
    t.same(JSON.parse(body), { name: 'parley', contracts: ['/x.json'] })
  }
})

t.test('the page /try shows why a route was chosen', async (t) => {
  const server = await serve(t)
  const { status, body } = await ask(server, 'GET', '/try/route?stage=stt&language=en')
  t.equal(status, 200)
  t.match(JSON.parse(body), {
    stage: 'stt',
    language: 'en',
    objective: 'balanced',
    candidate: 'here:org/small',
    runners_up: [],
    excluded: [{ provider: 'away', model: 'x', reason: 'unavailable', detail: 'no_credential' }],
    scores: [{ id: 'here:org/small', parts: Object }],
  })
  t.equal((await ask(server, 'GET', '/try/route?stage=llm')).status, 400)
  t.equal((await ask(server, 'GET', '/try/route')).status, 400)
})
