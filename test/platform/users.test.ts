/** Tests the dashboard's user tokens and sessions over the public API, and the commands for users. */
import { request } from 'node:http'
import t from 'tap'
import { platformContract } from '../../generated/platform/contract.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { openStore } from '../../store/store.ts'
import { runCommand } from '../command.ts'
import { until } from '../process/machine.ts'
import { defaults } from '../store/cluster.ts'
import { startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const { id, key } = await admin.organization('acme', { scopes: ['router', 'platform', 'rmsg', 'admin'] })
const users = (...args: string[]) => runCommand(parley, ['users', ...args])

type Headers = Record<string, string>
type Seen = { status: number; code?: string }

/** Sends a request over node:http, because fetch treats browser headers specially. */
function ask(headers: Headers, path = '/v1/organization', method = 'GET', body = ''): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = request(parley.url + path, { method, headers: { ...headers, ...(body && json) } }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => {
        const { code } = JSON.parse(text) as { code?: string }
        resolve({ status: answer.statusCode ?? 0, ...(code !== undefined && { code }) })
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
const json = { 'content-type': 'application/json' }
const bearer = (secret: string): Headers => ({ authorization: `Bearer ${secret}` })
const cookie = (secret: string, more: Headers = {}): Headers => ({ cookie: `a=1; parley_session=${secret}`, ...more })

const ok = { status: 200 }
const unauthorized = { status: 401, code: 'UNAUTHORIZED' }
const keyRequired = { status: 403, code: 'API_KEY_REQUIRED' }
const forbidden = { status: 403, code: 'FORBIDDEN' }
const foreignOrigin = { status: 403, code: 'ORIGIN_NOT_ALLOWED' }

async function made(...args: string[]): Promise<string> {
  const done = await users(...args)
  if (done.code !== 0) throw new Error(done.stderr)
  return done.stdout.trim()
}
const created = await made('create', 'Ann@Example.com', '--org', 'acme', '--role', 'member')
const token = await made('token', 'ann@example.com', '--org', 'acme')
const { secret: session } = JSON.parse(await made('session', 'ann@example.com', '--org', id, '--json')) as {
  secret: string
}

t.test('a user token and a user session act with the role of the user', async (t) => {
  t.same(await ask(bearer(token)), ok)
  t.same(await ask(cookie(session)), ok)
  t.same(await ask(bearer(token), '/router/v1/models'), ok, 'on every surface')
  const change = ['/v1/organization', 'PATCH', '{"name":"acme"}'] as const
  t.same(await ask(bearer(token), ...change), forbidden)
  t.same(await ask(cookie(session), ...change), forbidden)
  await made('create', 'boss@example.com', '--org', id, '--role', 'admin')
  t.same(await ask(bearer(await made('token', 'boss@example.com', '--org', id)), ...change), ok)
})

t.test('the first user of an organization becomes its owner, and the last owner cannot be removed', async (t) => {
  const { id: shop } = await admin.organization('shop')
  t.match(await made('create', 'eve@example.com', '--org', shop), /owner$/)
  t.match(await made('create', 'joe@example.com', '--org', shop), /member$/)
  const last = { code: 1, stderr: /eve@example\.com is the only owner of .*--role owner/ }
  t.match(await users('remove', 'eve@example.com', '--org', shop), last)
  t.match(await users('create', 'eve@example.com', '--org', shop, '--role', 'admin'), last)
  t.match(await made('create', 'eve@example.com', '--org', shop, '--role', 'owner'), /owner$/)
  t.match(await made('create', 'joe@example.com', '--org', shop, '--role', 'owner'), /owner$/)
  t.match(await made('create', 'eve@example.com', '--org', shop, '--role', 'viewer'), /viewer$/)
  t.match(await users('remove', 'joe@example.com', '--org', shop), { code: 1, stderr: /is the only owner/ })
  t.equal(await made('remove', 'eve@example.com', '--org', shop), 'eve@example.com is removed')
})

t.test('a changed role applies to the existing tokens and sessions of the user', async (t) => {
  const { id: shop } = await admin.organization('other roles')
  await made('create', 'eve@example.com', '--org', shop)
  await made('create', 'sam@example.com', '--org', shop, '--role', 'admin')
  const sam = bearer(await made('token', 'sam@example.com', '--org', shop))
  const change = ['/v1/organization', 'PATCH', '{"name":"renamed by a user"}'] as const
  t.same(await ask(sam, ...change), ok)
  await made('create', 'sam@example.com', '--org', shop, '--role', 'viewer')
  let seen = await ask(sam, ...change)
  await until('the server has the notification', async () => {
    if (seen.status === 200) seen = await ask(sam, ...change)
    return seen.status !== 200
  })
  t.same(seen, forbidden)
  t.same(await ask(sam), ok, 'a viewer reads')
})

t.test('rich-message operations refuse user tokens and sessions, and accept API keys', async (t) => {
  const path = '/v1/rmsg-phone-numbers'
  t.same(await ask(bearer(token), path), keyRequired)
  t.same(await ask(cookie(session), path), keyRequired)
  t.same(await ask(bearer(`ut_${'0'.repeat(43)}`), path), unauthorized, 'a token that nobody has')
  t.same(await ask(cookie(`us_${'0'.repeat(43)}`), path), unauthorized)
  t.same(await ask(bearer(key), path), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' })
})

t.test('each rich-message operation refuses user tokens and sessions before it reads the body', async (t) => {
  const { paths } = JSON.parse(platformContract) as { paths: Record<string, Record<string, object>> }
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/rmsg'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method, path] as const))
    .filter(([method]) => /^(get|put|post|patch|delete)$/.test(method))
  t.ok(operations.length >= 6, `${operations.length} operations`)
  for (const [method, path] of operations) {
    const place = [path.replaceAll(/\{[^}]+\}/g, 'nobody'), method.toUpperCase(), '{ no JSON'] as const
    const wanted = method === 'get' || method === 'delete' ? ([place[0], place[1]] as const) : place
    t.same(await ask(bearer(token), ...wanted), keyRequired, `${method} ${path}`)
    t.same(await ask(cookie(session), ...wanted), keyRequired, `${method} ${path} with a session`)
  }
})

t.test('if a request has an Authorization header and a cookie, only the header is checked', async (t) => {
  t.same(await ask({ ...bearer(key), ...cookie('us_wrong') }), ok)
  t.same(await ask({ ...bearer('sk_live_wrong'), ...cookie(session) }), unauthorized)
  t.same(await ask({ authorization: 'Basic eDp5', ...cookie(session) }), unauthorized)
  t.same(await ask({ ...bearer(token), ...cookie(session, { 'sec-fetch-site': 'cross-site' }) }), ok)
})

t.test('a session is not accepted as a bearer token, and a token or a key is not accepted as a cookie', async (t) => {
  for (const headers of [bearer(session), cookie(token), cookie(key), cookie(''), { cookie: `session=${session}` }, {}])
    t.same(await ask(headers), unauthorized)
})

t.test('a session cookie is accepted only from pages of this server', async (t) => {
  const of = (more: Headers) => ask(cookie(session, more))
  t.same(await of({ 'sec-fetch-site': 'same-origin' }), ok)
  t.same(await of({ 'sec-fetch-site': 'none' }), ok)
  t.same(await of({ 'sec-fetch-site': 'cross-site' }), foreignOrigin)
  t.same(await of({ 'sec-fetch-site': 'same-site' }), foreignOrigin, 'a neighbour under the same domain')
  t.same(await of({ origin: parley.url }), ok)
  t.same(await of({ origin: 'https://elsewhere.example' }), foreignOrigin)
  t.same(await of({ origin: 'null' }), foreignOrigin)
  const dead = cookie('us_wrong', { 'sec-fetch-site': 'cross-site' })
  t.same(await ask(dead), unauthorized, 'an unknown one is that first')
})

t.test('an expired user token or session is refused as unknown', async (t) => {
  const { dataDir, databaseUrl } = parley
  const clock = { ...systemClock, nowMs: () => Date.now() - 12 * 3_600_000 }
  const earlier = await openStore({ ...defaults, clock, databaseUrl, dataDir, serves: false })
  t.teardown(() => earlier.close({ stopPostgres: false }))
  const issue = async (kind: 'user_token' | 'session') =>
    (await earlier.users.issue(id, 'ann@example.com', kind))?.secret ?? ''
  t.same(await ask(bearer(await issue('user_token'))), unauthorized)
  t.same(await ask(cookie(await issue('session'))), unauthorized)
})

t.test('the `parley users` commands create, list and remove users', async (t) => {
  t.match(created, /^usr_\S+ {2}ann@example\.com {2}org_\S+ {2}member$/)
  t.match(await users('token', 'nobody@example.com', '--org', 'acme'), { code: 1, stderr: /is no user of acme/ })
  t.match(await users('create', 'ann', '--org', 'acme'), { code: 2, stderr: /is no email address/ })
  t.match(await users('create', 'a@b.c', '--org', 'acme', '--role', 'king'), {
    code: 2,
    stderr: /there are viewer, member, admin, owner/,
  })
  t.match(await users('create', 'a@b.c', '--org', 'nowhere'), { code: 1, stderr: /no organization nowhere/ })
  t.match(await users('create', 'a@b.c', '--org', 'org_nobody'), { code: 1, stderr: /no organization org_nobody/ })
  await admin.organization('acme')
  t.match(await users('create', 'a@b.c', '--org', 'acme'), { code: 1, stderr: /2 organizations have the name acme/ })
  t.match(await users('remove', 'a@b.c', '--org', id), { code: 1, stderr: /a@b\.c is no user/ })
  t.equal(await made('remove', 'ann@example.com', '--org', id), 'ann@example.com is removed')
  let seen = await ask(bearer(token))
  await until('the server has the notification', async () => {
    if (seen.status !== 401) seen = await ask(bearer(token))
    return seen.status === 401
  })
  t.same(seen, unauthorized)
})
