/** The operations that each role may use. Users do not see another organization's resources. */
import { request } from 'node:http'
import t from 'tap'
import type { CredentialKind } from '../../domain/access/users.ts'
import { type Role, roles } from '../../domain/records/organization.ts'
import { compatSurface } from '../../generated/compat/routes.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import { routerSurface } from '../../generated/router/routes.ts'
import { openDatabase } from '../process/database.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { byId, codes, unknown, withoutId } from './isolation-table.ts'
import { makeThings } from './isolation-things.ts'
import { startAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub),
  PARLEY_RMSG_KEEP_REMOVED_SEND: 'true',
  PARLEY_EDGE_QUOTA: '0',
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

/**
 * The lowest allowed role by method and path. The first matching row counts. Without a matching row, a read needs the
 * role viewer, and a change the role member.
 */
const leastRoles: readonly [methods: RegExp, path: RegExp, role: Role | 'none'][] = [
  [/./, /^\/v1\/rmsg/, 'none'],
  [/./, /^\/v1\/(webhook-secret|keys|audit-events)/, 'admin'],
  [/post|patch|delete/, /^\/v1\/members/, 'admin'],
  [/./, /^\/v1\/(phone-numbers\/kyb|sms\/10dlc)/, 'admin'],
  [/./, /^\/(v1\/invitations|simulator\/clock$)/, 'admin'],
  // This operation only compares: it shows no secret, and changes nothing.
  [/post/, /^\/v1\/webhooks\/\{id\}\/verify$/, 'viewer'],
  [/post|put|patch|delete/, /^\/v1\/(organization|phone-numbers|webhooks|webhook-deliveries|providers)(\/|$)/, 'admin'],
  [/get/, /^\/v1\/credits(\/ledger)?$/, 'owner'],
  [/get/, /^\/v1\/calls\/\{id\}\/(recording(?!\/peaks)|bundle$)/, 'member'],
  [/get/, /^\/v1\/webhook-events\/stream$/, 'member'],
  // The event in a delivery may contain a link to a recording, so a delivery needs the role for recordings.
  [/get/, /webhook-deliveries\/\{/, 'member'],
  [/get/, /./, 'viewer'],
  [/./, /./, 'member'],
]

function leastRole(method: string, path: string): Role | 'none' {
  const [, , role] = leastRoles.find(([methods, paths]) => methods.test(method) && paths.test(path)) ?? []
  if (role === undefined) throw new Error(`no line for ${method} ${path}`)
  return role
}

const reaches = (role: Role, least: Role | 'none') => least !== 'none' && roles.indexOf(role) >= roles.indexOf(least)

const kinds = ['user_token', 'session'] as const

type Headers = Record<string, string>
type Seen = { status: number; code: string | null; text: string }

/** Sends a request over node:http, because fetch treats cookies specially. Leaves a stream once it has begun. */
function ask(headers: Headers, method: string, path: string, body: string | null = null): Promise<Seen> {
  const type = body === null ? {} : { 'content-type': 'application/json' }
  const options = { method: method.toUpperCase(), headers: { ...headers, ...type } }
  return new Promise((resolve, reject) => {
    const sent = request(parley.url + path, options, (answer) => {
      const status = answer.statusCode ?? 0
      const isStream = answer.headers['content-type'] === 'text/event-stream'
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('close', () => resolve({ status, code: codeOf(text), text }))
      if (isStream) answer.destroy()
    })
    sent.once('error', reject)
    sent.end(body ?? undefined)
  })
}

function codeOf(text: string): string | null {
  return /"code":"(\w+)"/.exec(text)?.[1]?.toUpperCase() ?? null
}

const headersOf = (kind: CredentialKind, secret: string): Headers =>
  kind === 'session' ? { cookie: `parley_session=${secret}` } : { authorization: `Bearer ${secret}` }

async function signedIn(organizationId: string, email: string, role: Role, kind: CredentialKind): Promise<Headers> {
  await admin.store.users.create(organizationId, email, role)
  const issued = await admin.store.users.issue(organizationId, email, kind)
  if (issued === null) throw new Error(`no ${kind}`)
  return headersOf(kind, issued.secret)
}

const enableMessages = () =>
  sql`update organizations set sms_enabled = true, rmsg_enabled = true, rmsg_legacy_inventory = true`

/** All operations with their paths. Each API has a different error for a missing role. */
const operations = [
  { surface: platformSurface, base: '', lacks: 'FORBIDDEN' },
  { surface: routerSurface, base: '/router', lacks: 'ACCESS_DENIED' },
  { surface: compatSurface, base: '', lacks: 'ACCESS_DENIED' },
  { surface: internalSurface, base: '', lacks: 'ACCESS_DENIED' },
].flatMap(({ surface, base, lacks }) =>
  surface.operations.flatMap(({ id, method, path, scope, role, body }) => {
    if (scope === null) return []
    const named = path.replaceAll(/\{[^}]+\}/g, unknown.call)
    // The body is not JSON, so after the credential check the request is refused and changes nothing.
    const [wanted, sent] = [leastRole(method, path), body === null ? null : '{ no JSON']
    return [{ id, method, scope, role, wanted, lacks, path: base + named, body: sent }]
  }),
)

t.test('this test covers every scope, and at least 95 operations of the platform API', (t) => {
  const scopes = new Set(operations.map(({ scope }) => scope))
  t.same([...scopes].sort(), ['admin', 'platform', 'realtime', 'rmsg', 'router'])
  t.ok(operations.length >= 95, `${operations.length} operations`)
  t.same(new Set(operations.map(({ role }) => role)), new Set(['none', ...roles]))
  t.end()
})

t.test('the lowest role of each operation in the contract is as this test expects', (t) => {
  for (const { id, role, wanted, scope } of operations) {
    t.equal(role, wanted, id)
    t.equal(role === 'none', scope === 'rmsg', `${id}: only rich messages are for keys alone`)
    if (scope === 'admin') t.ok(role === 'admin' || role === 'owner', `${id}: the scope admin is not for members`)
  }
  t.end()
})

for (const kind of kinds)
  for (const role of roles)
    t.test(`a ${kind} of the role ${role} may use exactly the operations of the role`, async (t) => {
      const { id: organizationId } = await admin.organization(`${kind} ${role}`)
      await enableMessages()
      const user = await signedIn(organizationId, `${kind}@${role}.example`, role, kind)
      for (const { id, method, wanted, lacks, path, body } of operations) {
        const { status, code, text } = await ask(user, method, path, body)
        const title = `${id} (${wanted}): ${status} ${status < 400 ? '' : text.slice(0, 200)}`
        if (wanted === 'none') t.same([status, code], [403, 'API_KEY_REQUIRED'], title)
        else if (reaches(role, wanted)) t.notOk([401, 403, 429].includes(status), title)
        else {
          t.same([status, code], [403, lacks], title)
          t.match(text, `This needs the role ${wanted}, and the role of this user is ${role}.`, id)
        }
      }
    })

t.test('no operation accepts an unknown user token or session, or a session cookie from another site', async (t) => {
  const { id: organizationId } = await admin.organization('strangers')
  const session = await signedIn(organizationId, 'page@example.com', 'owner', 'session')
  const foreign = { ...session, 'sec-fetch-site': 'cross-site' }
  for (const { id, method, path, body } of operations) {
    for (const [kind, prefix] of [
      ['user_token', 'ut_'],
      ['session', 'us_'],
    ] as const) {
      const { status } = await ask(headersOf(kind, prefix + '0'.repeat(43)), method, path, body)
      t.equal(status, 401, `${id} with a ${kind} that nobody has`)
    }
    const { status, code } = await ask(foreign, method, path, body)
    t.same([status, code], [403, 'ORIGIN_NOT_ALLOWED'], `${id} from a foreign page`)
  }
})

t.test('a user with the role member cannot make webhook endpoints through the fields of an agent', async (t) => {
  const { id: organizationId } = await admin.organization('agents with webhooks')
  const as = (role: Role) => signedIn(organizationId, `${role}@agents.example`, role, 'user_token')
  const [member, owner] = [await as('member'), await as('owner')]
  const agent = { name: 'desk', systemPrompt: 'Be kind.', intent: { language: 'en' } }
  const webhooks = { status: { url: 'https://crm.example/hook' } }
  const withWebhooks = JSON.stringify({ ...agent, webhooks })
  t.match(await ask(member, 'post', '/v1/agents', withWebhooks), { status: 403, text: /the role admin/ })
  const made = await ask(member, 'post', '/v1/agents', JSON.stringify({ ...agent, webhooks: null }))
  t.equal(made.status, 201, made.text)
  const path = `/v1/agents/${(JSON.parse(made.text) as { id: string }).id}`
  for (const change of [{ webhooks }, { webhooks: null }])
    t.match(await ask(member, 'patch', path, JSON.stringify(change)), { status: 403, text: /the role admin/ })
  t.equal((await ask(member, 'patch', path, JSON.stringify({ systemPrompt: 'Be brief.' }))).status, 200)
  t.equal((await ask(owner, 'patch', path, JSON.stringify({ webhooks: null }))).status, 200)
})

const withoutRequestId = (text: string) => ({ ...(JSON.parse(text) as object), requestId: '' })
const roleOf = (id: string) => operations.find((operation) => operation.id === id)?.wanted ?? 'none'
const scopeOf = (id: string) => operations.find((operation) => operation.id === id)?.scope
const ofUsers = Object.entries(byId).filter(([id]) => roleOf(id) !== 'none')
const lists = platformSurface.operations.filter(
  ({ id, method, scope }) => withoutId.includes(id) && method === 'get' && scope === 'platform',
)

for (const world of ['live', 'test'] as const)
  t.test(`an organization's ${world} resources are answered 404 to users without a role in it`, async (t) => {
    const scopes = ['router', 'platform', 'rmsg'] as const
    const { id: ownerId, ...liveKey } = await admin.organization(`owner in the ${world} world`, { scopes })
    const { id: strangerId } = await admin.organization(`stranger to the ${world} world`)
    await enableMessages()
    const isTest = world === 'test'
    const target = isTest ? await admin.key(ownerId, { scopes, test: true }) : liveKey
    const things = await makeThings(t, { admin, sql }, target, { organizationId: ownerId, test: isTest })
    const email = `both@${world}.example`
    // A token is for one organization, even if its person has a role in a second organization.
    const own = await signedIn(ownerId, email, 'owner', 'user_token')
    const others: [who: string, headers: Headers, role?: Role][] = [
      ['a member elsewhere', await signedIn(strangerId, `member@${world}.example`, 'member', 'user_token'), 'member'],
      ['an owner elsewhere', await signedIn(strangerId, `owner@${world}.example`, 'owner', 'session')],
      ['the same person elsewhere', await signedIn(strangerId, email, 'owner', 'user_token')],
      ...(isTest ? [['the owner in the live world', own] as [string, Headers]] : []),
    ]
    for (const [who, headers, role = 'owner'] of others) {
      // An owner may also read the resources that need the scope admin, because live and test keys share them.
      for (const [operation, ways] of headers === own ? ofUsers.filter(([id]) => scopeOf(id) !== 'admin') : ofUsers)
        for (const { method, path, body } of ways) {
          const sent = body === undefined ? null : JSON.stringify(body)
          const theirs = await ask(headers, method, path(things), sent)
          const nobodys = await ask(headers, method, path(unknown), sent)
          const title = `${operation} by ${who}`
          const missing = [404, operation in codes ? codes[operation] : 'NOT_FOUND']
          t.same([theirs.status, theirs.code], reaches(role, roleOf(operation)) ? missing : [403, 'FORBIDDEN'], title)
          t.same(withoutRequestId(theirs.text), withoutRequestId(nobodys.text), title)
        }
      for (const { id, path } of lists) {
        const { text } = await ask(headers, 'get', path)
        for (const secret of ['k4n4ry', things.agent, things.call]) t.notOk(text.includes(secret), `${id} by ${who}`)
      }
    }
    if (isTest) return
    for (const path of [`/v1/agents/${things.agent}`, `/v1/calls/${things.call}`, `/v1/webhooks/${things.webhook}`])
      t.equal((await ask(own, 'get', path)).status, 200, path)
  })
