/** Signing in to the console with a password: setup, sessions, their ends, and other organizations. */
import { type ClientRequest, request } from 'node:http'
import t from 'tap'
import { setupCodeOf } from '../../domain/access/sign-in/setup-code.ts'
import { messageKey } from '../carrier/message-events.ts'
import { runCommand } from '../command.ts'
import { openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { Browser } from './browser.ts'
import { firstPerson, password, sessionOf, signIn } from './setup.ts'

const parley = await ownServer(t)
const admin = await openAdministration(parley)
t.teardown(() => admin.close())
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const ann = await firstPerson(parley.url)
const other = await admin.organization('other')

t.test('setUpConsole creates the owner of the first organization, and only once', async (t) => {
  const session = sessionOf(await ann.get('/console/auth/session'))
  t.match(session, {
    user: { email: 'ann@example.com', name: 'Ann Miller' },
    organization: { name: 'local' },
    role: 'owner',
    method: 'password',
    server: { region: 'local', simulatedCarrier: true },
  })
  t.match((await new Browser(parley.url).get('/console/auth/methods')).body, { setup: false, code: false })
  const again = { email: 'eve@example.com', name: 'Eve', password }
  t.match(await new Browser(parley.url).post('/console/auth/setup', again), { status: 409, code: 'SETUP_DONE' })
})

t.test('a session from signIn is accepted by every API, and ends with signOut', async (t) => {
  const browser = new Browser(parley.url)
  const signedIn = await signIn(browser, 'ANN@example.com')
  t.equal(signedIn.status, 200)
  t.match(
    String(signedIn.headers['set-cookie']),
    /^parley_session=us_\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/,
  )
  t.equal((await browser.get('/v1/organization')).status, 200)
  const stolen = new Browser(parley.url)
  stolen.cookies.set('parley_session', browser.session)
  t.equal((await stolen.get('/v1/organization')).status, 200, 'the cookie works elsewhere before')
  const out = await browser.post('/console/auth/sign-out', {})
  t.equal(out.status, 204)
  t.equal(out.headers['clear-site-data'], '"cache", "storage"')
  t.equal(browser.session, '')
  t.match(await stolen.get('/v1/organization'), { status: 401, code: 'UNAUTHORIZED' })
  t.match(await stolen.get('/console/auth/session'), { status: 401, code: 'UNAUTHORIZED' })
  t.match(await stolen.post('/console/auth/sign-out', {}), { status: 204 }, 'and signing out is always possible')
})

t.test('a page of another site can neither sign in, sign out nor read the session', async (t) => {
  const foreign = { status: 403, code: 'ORIGIN_NOT_ALLOWED' }
  for (const site of ['cross-site', 'same-site']) {
    const headers = { 'sec-fetch-site': site, origin: 'https://evil.example' }
    t.match(await ann.post('/console/auth/sign-in', { email: 'ann@example.com', password }, headers), foreign)
    t.match(await ann.post('/console/auth/sign-out', {}, headers), foreign)
    t.match(await ann.post('/console/auth/organization', { organizationId: other.id }, headers), foreign)
    t.match(await ann.get('/console/auth/session', headers), foreign)
  }
  const withoutHeader = { 'sec-fetch-site': '', origin: 'https://evil.example' }
  t.match(await ann.post('/console/auth/sign-out', {}, withoutHeader), foreign, 'also from an older browser')
  t.equal((await ann.get('/console/auth/session')).status, 200)
})

t.test('sign-in responds alike to an unknown address, a wrong password and a user without a password', async (t) => {
  await runCommand(parley, ['users', 'create', 'nopassword@example.com', '--org', 'other'])
  const withoutId = ({ text }: { text: string }) => text.replace(/req_\w+/, '')
  const wrong = await signIn(new Browser(parley.url), 'ann@example.com', 'something else entirely')
  t.match(wrong, { status: 401, code: 'SIGN_IN_FAILED' })
  for (const email of ['nobody@example.com', 'nopassword@example.com'])
    t.equal(withoutId(await signIn(new Browser(parley.url), email)), withoutId(wrong))
  t.equal((await signIn(new Browser(parley.url), 'ann@example.com')).status, 200)
})

t.test('chooseOrganization sets a new session cookie, and accepts only organizations of the user', async (t) => {
  const browser = new Browser(parley.url)
  const { organization } = sessionOf(await signIn(browser, 'ann@example.com'))
  const before = browser.session
  const choose = (organizationId: string) => browser.post('/console/auth/organization', { organizationId })
  t.match(await choose(other.id), { status: 404, code: 'NOT_FOUND' }, 'another organization is not found')
  t.match(await choose('org_unknown'), { status: 404, code: 'NOT_FOUND' })
  await runCommand(parley, ['users', 'create', 'ann@example.com', '--org', 'other', '--role', 'viewer'])
  const chosen = sessionOf(await choose(other.id))
  t.match(chosen, { organization: { id: other.id }, role: 'viewer' })
  t.same(chosen.organizations.map(({ role }) => role).sort(), ['owner', 'viewer'])
  t.match((await browser.get('/v1/organization')).body, { id: other.id })
  t.not(browser.session, before)
  browser.cookies.set('parley_session', before)
  t.equal((await browser.get('/v1/organization')).status, 401, 'the old cookie has ended')
  const direct = await new Browser(parley.url).post('/console/auth/sign-in', {
    email: 'ann@example.com',
    password,
    organizationId: organization.id,
  })
  t.match(direct.body, { organization: { id: organization.id } })
  await runCommand(parley, ['users', 'remove', 'ann@example.com', '--org', 'other'])
})

t.test("listMySessions shows only the user's own sessions, and endMySession ends one of them", async (t) => {
  const [here, there] = [new Browser(parley.url), new Browser(parley.url)]
  await signIn(here, 'ann@example.com')
  await signIn(there, 'ann@example.com')
  type Listed = { id: string; current: boolean; ip: string; userAgent: string; method: string }
  const list = async (browser: Browser) => (await browser.get('/console/auth/sessions')).body as Listed[]
  const [current] = (await list(there)).filter((each) => each.current)
  t.match(current, { ip: '127.0.0.1', userAgent: 'Firefox of a test', method: 'password' })
  await runCommand(parley, ['users', 'create', 'bob@example.com', '--org', 'other'])
  const bob = new Browser(parley.url)
  const made = await runCommand(parley, ['users', 'session', 'bob@example.com', '--org', 'other'])
  bob.cookies.set('parley_session', made.stdout.trim())
  t.match(await list(bob), [{ method: 'operator', current: true }])
  const id = current?.id ?? ''
  t.match(await bob.send('DELETE', `/console/auth/sessions/${id}`), { status: 404, code: 'NOT_FOUND' })
  t.equal((await here.send('DELETE', `/console/auth/sessions/${id}`)).status, 204)
  t.equal((await there.get('/v1/organization')).status, 401)
  t.equal((await here.get('/v1/organization')).status, 200)
})

t.test('signOut with `everywhere` and `users sign-out` end all sessions and tokens of the user', async (t) => {
  const [here, there] = [new Browser(parley.url), new Browser(parley.url)]
  await signIn(here, 'ann@example.com')
  await signIn(there, 'ann@example.com')
  t.equal((await here.post('/console/auth/sign-out', { everywhere: true })).status, 204)
  t.equal((await there.get('/v1/organization')).status, 401)
  await signIn(there, 'ann@example.com')
  t.equal((await there.get('/v1/organization')).status, 200)
  const ended = await runCommand(parley, ['users', 'sign-out', 'ann@example.com'])
  t.match(ended.stdout, /^1 sessions and tokens of ann@example\.com have ended/)
  await until('the cookie is refused', async () => (await there.get('/v1/organization')).status === 401)
  t.match(await runCommand(parley, ['users', 'sign-out', 'nobody@example.com']), { code: 1, stderr: /no person/ })
})

t.test("updateMe changes the user's name", async (t) => {
  await signIn(ann, 'ann@example.com')
  t.match((await ann.send('PATCH', '/console/auth/me', { name: 'Ann Smith' })).body, { user: { name: 'Ann Smith' } })
  t.match((await ann.get('/console/auth/session')).body, { user: { name: 'Ann Smith' } })
  t.match(await ann.send('PATCH', '/console/auth/me', { name: ' ' }), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test(
  'changePassword needs the current password, ends all other sessions, and refuses passwords that are easy to guess',
  async (t) => {
    const there = new Browser(parley.url)
    await signIn(ann, 'ann@example.com')
    await signIn(there, 'ann@example.com')
    const before = ann.session
    const change = (current: string, next: string) => ann.post('/console/auth/password', { current, password: next })
    const easy = [
      'too short',
      'aaaaaaaaaaaaaaaa',
      'abcabcabcabcabcabc',
      '1234567890123456',
      'Password1234567!',
      'ann@example.com is me',
    ]
    for (const next of easy) t.match(await change(password, next), { status: 400, code: 'VALIDATION_ERROR' }, next)
    t.match((await change(password, easy[1] ?? '')).body, { issues: [{ path: '/password', keyword: 'blocklist' }] })
    const next = 'four other words of mine'
    t.match(await change('not my password', next), { status: 401, code: 'SIGN_IN_FAILED' })
    t.equal((await change(password, next)).status, 200)
    t.not(ann.session, before)
    t.equal((await ann.get('/v1/organization')).status, 200)
    t.equal((await there.get('/v1/organization')).status, 401)
    t.match(await signIn(there, 'ann@example.com'), { status: 401, code: 'SIGN_IN_FAILED' }, 'the old password')
    t.equal((await signIn(there, 'ann@example.com', next)).status, 200)
    t.equal((await change(next, password)).status, 200)
  },
)

t.test('neither a password nor a session is stored or logged', async (t) => {
  await signIn(ann, 'ann@example.com')
  const tables = ['identities', 'user_credentials', 'sign_in_failures', 'users']
  for (const table of tables) {
    const rows = JSON.stringify(await sql`select * from ${sql(table)}`)
    t.notMatch(rows, password, table)
    t.notMatch(rows, ann.session, table)
  }
  t.notMatch(JSON.stringify(await sql`select subject from sign_in_failures`), /example\.com|127\.0\.0\.1/)
  t.notMatch(parley.output(), password)
  t.match(await sql`select password_hash from identities`, [{ password_hash: /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/ }])
})

t.test('a user whose only organization is disabled cannot sign in', async (t) => {
  await runCommand(parley, ['org', 'disable', 'local'])
  t.match(await signIn(new Browser(parley.url), 'ann@example.com'), { status: 401, code: 'SIGN_IN_FAILED' })
  await runCommand(parley, ['org', 'enable', 'local'])
  t.equal((await signIn(new Browser(parley.url), 'ann@example.com')).status, 200)
})

t.test('with a public URL setUpConsole needs the printed setup code, and session cookies are Secure', async (t) => {
  const masterKey = 'a master key of the test that is long'
  const open = await ownServer(t, { PARLEY_PUBLIC_URL: 'https://voice.example.com', PARLEY_MASTER_KEY: masterKey })
  const browser = new Browser(open.url)
  t.match((await browser.get('/console/auth/methods')).body, { setup: true, code: true })
  const code = open.gateway.setupCode
  t.equal(code, setupCodeOf(masterKey))
  t.match(code, /^[2-9A-Z]{5}-[2-9A-Z]{5}$/)
  const first = { email: 'ann@example.com', name: 'Ann', password }
  const setUp = (given: object) => browser.post('/console/auth/setup', { ...first, ...given })
  t.match(await setUp({}), { status: 401, code: 'SIGN_IN_FAILED' })
  t.match(await setUp({ code: 'AAAAA-AAAAA' }), { status: 401, code: 'SIGN_IN_FAILED' })
  const made = await setUp({ code: code?.toLowerCase().replace('-', ' ') })
  t.equal(made.status, 200, made.text)
  t.match(String(made.headers['set-cookie']), /; Secure; Max-Age/)
  t.match(made.body, { server: { simulatedCarrier: true } }, 'a public server can have the simulated carrier')
})

t.test('the session on a server with a real carrier says that the carrier is not simulated', async (t) => {
  const real = await ownServer(t, {
    PARLEY_PUBLIC_URL: 'https://voice.example.com',
    PARLEY_CARRIER_ADAPTER: 'telnyx',
    PARLEY_CARRIER_TELNYX_API_KEY: 'KEY1',
    PARLEY_CARRIER_TELNYX_CONNECTION_ID: '7267',
    PARLEY_CARRIER_TELNYX_PUBLIC_KEY: messageKey.publicKey,
    PARLEY_CARRIER_TELNYX_BASE_URL: 'http://127.0.0.1:9/v2',
  })
  const first = { email: 'ann@example.com', name: 'Ann', password, code: real.gateway.setupCode }
  const made = await new Browser(real.url).post('/console/auth/setup', first)
  t.match(made.body, { server: { simulatedCarrier: false } })
})

t.test('if the console is disabled, its sign-in operations do not exist', async (t) => {
  const off = await ownServer(t, { PARLEY_CONSOLE_ENABLED: 'false' })
  t.match(await new Browser(off.url).get('/console/auth/methods'), { status: 404 })
  t.equal(off.gateway.setupCode, null)
})

t.test('signing out ends the event streams of the session, and not those of another session', async (t) => {
  const [leaves, stays] = [new Browser(parley.url), new Browser(parley.url)]
  await signIn(leaves, 'ann@example.com')
  await signIn(stays, 'ann@example.com')
  const ended: string[] = []
  const stream = (name: string, browser: Browser) =>
    new Promise<ClientRequest>((resolve, reject) => {
      const headers = { cookie: `parley_session=${browser.session}`, 'sec-fetch-site': 'same-origin' }
      const sent = request(`${parley.url}/v1/webhook-events/stream`, { headers }, (answer) => {
        t.equal(answer.statusCode, 200, name)
        answer.resume().once('close', () => ended.push(name))
        resolve(sent)
      })
      sent.once('error', reject).end()
    })
  await stream('leaves', leaves)
  const open = await stream('stays', stays)
  t.equal((await leaves.post('/console/auth/sign-out', {})).status, 204)
  await until('the stream ends', () => ended.length > 0)
  t.same(ended, ['leaves'])
  await stays.post('/console/auth/sign-out', { everywhere: true })
  await until('the other stream ends', () => ended.length > 1)
  open.destroy()
})

t.test('a session of a disabled organization does not answer operations on the account', async (t) => {
  const browser = new Browser(parley.url)
  await signIn(browser, 'ann@example.com')
  const { organization } = sessionOf(await browser.get('/console/auth/session'))
  await sql`update organizations set is_disabled = true where id = ${organization.id}`
  for (const path of ['session', 'sessions']) t.equal((await browser.get(`/console/auth/${path}`)).status, 401, path)
  await sql`update organizations set is_disabled = false where id = ${organization.id}`
  t.equal((await browser.get('/console/auth/session')).status, 200)
})
