/**
 * The command `up` prints the URL, the page and the API key when it starts, and the open calls and requests when it
 * ends.
 */
import { rmSync } from 'node:fs'
import { get } from 'node:http'
import path from 'node:path'
import t, { type Test } from 'tap'
import { greeting, type Ready } from '../../app/commands/greeting.ts'
import { waitingOf, waitingWords } from '../../app/draining.ts'
import { freshDataDir } from '../installation.ts'
import { ownServer, type Settings } from '../server.ts'
import { loopbackProviders, Page } from '../session/voice-session.ts'

const version = '0.1.0'
const local = 'http://127.0.0.1:8080'
const first: Ready = {
  version,
  url: local,
  publicUrl: null,
  isEverywhere: false,
  page: `${local}/try`,
  hasConsole: true,
  firstKey: { kind: 'local', key: 'sk_live_first' },
  engine: 'node:http with ws',
  setupCode: null,
  usesOllama: true,
  routerHost: null,
  compatHost: null,
}

t.test('the first local start prints a runnable command line that contains the new API key', (t) => {
  const words = greeting(first)
  t.match(words, `Parley ${version} is ready at ${local}\n`)
  t.match(words, `curl -s ${local}/router/v1/models -H 'Authorization: Bearer sk_live_first'`)
  t.match(words, `${local}/try/agent`)
  t.match(words, `${local}/console: `)
  t.notMatch(greeting({ ...first, hasConsole: false }), /console/)
  t.notMatch(words, /every address|Others reach/)
  t.match(
    words,
    'if a server answers at 127.0.0.1:11434, it is used as Ollama; PARLEY_LOCAL_OLLAMA=false turns this off',
  )
  t.notMatch(greeting({ ...first, usesOllama: false }), /Ollama/)
  t.end()
})

t.test('later starts print the source of the API key and a runnable command line', (t) => {
  for (const [kind, words] of [
    ['named', /key {3}the one in PARLEY_BOOTSTRAP_KEY/],
    ['stored', /parley keys create --org NAME/],
    ['none', /none yet: `parley org create NAME`, then `parley keys create --org NAME`/],
  ] as const) {
    const said = greeting({ ...first, page: null, firstKey: { kind } })
    t.match(said, words)
    t.match(said, '-H "Authorization: Bearer $KEY"', 'a shell puts the key in')
    t.notMatch(said, /\/try/)
  }
  const behind = greeting({ ...first, publicUrl: 'https://voice.example.com', isEverywhere: true })
  t.match(behind, 'Others reach it at https://voice.example.com.')
  t.match(behind, 'curl -s https://voice.example.com/router')
  t.match(behind, 'It listens at every address of this machine.')
  t.end()
})

const gatewayOf = async (t: Test, settings: Settings) =>
  (await ownServer(t, { PARLEY_MASTER_KEY: 'm'.repeat(32), ...settings })).gateway

t.test('for each host setting, `up` prints a server URL and a page URL that a client can open', async (t) => {
  const everywhere = await gatewayOf(t, { PARLEY_HOST: '0.0.0.0' })
  t.match(everywhere.url, /^http:\/\/127\.0\.0\.1:\d+$/, 'a client can open it')
  t.equal(everywhere.page, null)
  t.equal((await fetch(`${everywhere.url}/healthz`)).status, 200)
  const open = await gatewayOf(t, { PARLEY_HOST: '0.0.0.0', PARLEY_TRY: '1' })
  t.equal(open.page, `${open.url}/try`)
  t.equal(await statusOf(open.page), 200)
  const behind = await gatewayOf(t, { PARLEY_TRY: '1', PARLEY_PUBLIC_URL: 'https://voice.example.com' })
  t.equal(behind.page, 'https://voice.example.com/try')
  const six = await gatewayOf(t, { PARLEY_HOST: '::1' })
  t.match(six.page, /^http:\/\/\[::1\]:\d+\/try$/)
  t.equal(await statusOf(six.page), 200)
})

const statusOf = async (url: string | null) => (await fetch(url ?? '')).status

t.test('`up` prints the host name of an API if the API is served on a separate host', async (t) => {
  const compat = greeting({ ...first, compatHost: 'api.example.com' })
  t.match(compat, 'http://api.example.com:8080/v1 is the base URL')
  t.match(compat, `curl -s ${local}/router/v1/models -H 'Authorization`)
  const behind = greeting({ ...first, publicUrl: 'https://voice.example.com', routerHost: 'router.example.com' })
  t.match(behind, 'curl -s https://router.example.com/v1/models -H ')
  t.match(behind, 'https://voice.example.com/v1 is the base URL')
  const { url } = await gatewayOf(t, { PARLEY_SURFACES_ROUTER_HOST: 'router.example.com' })
  const named = greeting({ ...first, url, routerHost: 'router.example.com' })
  const [, address = '', header = ''] = /curl -s (\S+) -H 'Host: ([^']+)' -H /.exec(named) ?? []
  t.equal(await statusAt(address, header), 401, 'the line reaches the surface, which asks for a key')
  t.equal(await statusAt(`${url}/router/v1/models`, new URL(url).host), 404, 'without its Host header')
})

/** Sends a request with the header Host, which fetch does not allow, and returns the status. */
const statusAt = (url: string, host: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })

t.test('`up` prints whether the first API key is configured, created or missing', async (t) => {
  const named = await gatewayOf(t, {})
  t.same(named.firstKey, { kind: 'named' })
  const none = await gatewayOf(t, { PARLEY_HOST: '0.0.0.0', PARLEY_BOOTSTRAP_KEY: '' })
  t.same(none.firstKey, { kind: 'none' })
  const made = await gatewayOf(t, { PARLEY_BOOTSTRAP_KEY: '' })
  t.match(made.firstKey, { kind: 'local', key: /^sk_live_/ })
})

const drain = { lbDelayMs: 5000, graceMs: 20_000, sessionsMs: 600_000 }
const idle = { calls: 0, requests: 0, sockets: 0 }
const timeOf = (ms: number) => new Date(ms).toISOString()

t.test('a server that drains prints the number of open calls and its deadline', (t) => {
  const at = (open: object, lbDelayMs = 0) => waitingWords(waitingOf({ ...idle, ...open }, drain, lbDelayMs, 0), timeOf)
  t.equal(at({}), 'draining: nothing is open')
  t.equal(
    at({}, 5000),
    'draining: nothing is open; new requests are taken until 1970-01-01T00:00:05.000Z at the latest (5 s)',
  )
  t.equal(at({ requests: 1 }), 'draining: waits for 1 request, until 1970-01-01T00:00:20.000Z at the latest (20 s)')
  t.equal(
    at({ calls: 1, sockets: 2 }, 5000),
    'draining: waits for 1 call, 2 sockets, until 1970-01-01T00:10:05.000Z at the latest (10 min 5 s)',
    'a call has longer than a request',
  )
  t.match(at({ calls: 2, requests: 3, sockets: 1 }), /2 calls, 3 requests, 1 socket, .*\(10 min\)/)
  t.end()
})

t.test('a server that drains logs the live session that is still open', async (t) => {
  const settings = { PARLEY_PROVIDERS: loopbackProviders, PARLEY_LOG_LEVEL: 'info' }
  const server = await ownServer(t, settings)
  await Page.join(server)
  t.match(server.gateway.waiting(0), { calls: 1, sockets: 1, forMs: 600_000 })
  await server.stop()
  t.match(server.output(), /draining: waits for 1 call, 1 socket, until \d{4}-.* at the latest \(10 min\)/)
})

t.test('the first start with an external Postgres and an empty data folder logs nothing', async (t) => {
  const parent = freshDataDir()
  t.teardown(() => rmSync(parent, { recursive: true, force: true }))
  const dataDir = path.join(parent, '.parley')
  const settings = { PARLEY_DATA_DIR: dataDir, PARLEY_BOOTSTRAP_KEY: '', PARLEY_MASTER_KEY: 'm'.repeat(32) }
  const server = await ownServer(t, { ...settings, PARLEY_HOST: '0.0.0.0' })
  t.equal(server.output(), '')
})
