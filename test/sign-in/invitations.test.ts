/** Invitations: their operations, their links, and who may accept. */
import t from 'tap'
import { systemClock } from '../../runtime/timing/clock.ts'
import { runCommand } from '../command.ts'
import { call, openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { ownServer } from '../server.ts'
import { Browser } from './browser.ts'
import { startMailSink, tokenIn } from './mail-sink.ts'
import { firstPerson, password, sessionOf, signIn } from './setup.ts'

const dayMs = 24 * 3_600_000
let passedMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
const sink = await startMailSink(t)
const parley = await ownServer(t, sink.env, { clock })
const admin = await openAdministration(parley)
t.teardown(() => admin.close())
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const ann = await firstPerson(parley.url)
const acme = await admin.organization('acme', { scopes: ['platform', 'admin'] })

type Sent = { id: string; url: string; sent: boolean; sendError: string | null; email: string; role: string }
const invite = async (email: string, role = 'viewer', target = acme) =>
  (await call(target, 'POST', '/v1/invitations', { email, role })).json<Sent>()
const open = (token: string) => new Browser(parley.url).post('/console/auth/invitation', { token })
const accept = (browser: Browser, token: string, given: object = { password }) =>
  browser.post('/console/auth/invitation/accept', { token, name: 'Sam Jones', ...given })
const dead = { status: 410, code: 'LINK_EXPIRED' }

t.test('createInvitation mails a link, with which a new user can accept the invitation once', async (t) => {
  const made = await call(acme, 'POST', '/v1/invitations', { email: 'Sam@Example.com', role: 'viewer', name: 'Sam J.' })
  t.equal(made.status, 201)
  const sent = made.json<Sent>()
  t.match(sent, {
    email: 'sam@example.com',
    name: 'Sam J.',
    role: 'viewer',
    sent: true,
    sendError: null,
    invitedBy: { type: 'api_key' },
  })
  const [mail] = sink.mails
  t.equal(mail?.to, 'sam@example.com')
  t.match(mail?.text, 'Subject: Invitation to acme')
  const token = tokenIn(mail?.text ?? '')
  t.equal(sent.url, `${parley.url}/console/invite#${token}`, 'the address is not the Host header of the request')
  const shown = { email: 'sam@example.com', organizationName: 'acme', role: 'viewer', needsPassword: true }
  t.match((await open(token)).body, { ...shown, name: 'Sam J.' })
  const [listed] = (await call(acme, 'GET', '/v1/invitations')).json<Sent[]>()
  t.match(listed, { id: sent.id, name: 'Sam J.', sentAt: /^\d{4}-/ })
  t.notMatch(JSON.stringify(listed), token)
  const sam = new Browser(parley.url)
  t.match(await accept(sam, token, {}), {
    status: 400,
    body: { issues: [{ path: '/password', keyword: 'maxLength' }] },
  })
  t.match(await accept(sam, token, { password: 'too short' }), { status: 400 })
  const accepted = await accept(sam, token)
  t.equal(accepted.status, 200, accepted.text)
  t.match(sessionOf(accepted), { user: { name: 'Sam Jones' }, organization: { name: 'acme' }, role: 'viewer' })
  const { events } = (await call(acme, 'GET', '/v1/audit-events?action=invitation.accepted')).json<{
    events: object[]
  }>()
  t.match(events, [
    {
      actor: { type: 'user', name: 'sam@example.com' },
      target: { type: 'invitation', id: sent.id, name: 'sam@example.com' },
      values: { role: [null, 'viewer'] },
      source: { via: 'console' },
    },
  ])
  t.match(await accept(new Browser(parley.url), token), dead, 'a second time')
  t.match(await open(token), dead)
  t.match(await open('x'.repeat(43)), dead)
  t.same((await call(acme, 'GET', '/v1/invitations')).json(), [])
  t.match(await call(acme, 'POST', '/v1/invitations', { email: 'SAM@example.com', role: 'admin' }), { status: 409 })
})

t.test('a page of another site can neither read nor accept an invitation', async (t) => {
  const { url } = await invite('cross@example.com')
  const headers = { 'sec-fetch-site': 'cross-site' }
  const token = tokenIn(url)
  t.match(await ann.post('/console/auth/invitation', { token }, headers), { status: 403 })
  t.match(await ann.post('/console/auth/invitation/accept', { token, name: 'x', password }, headers), { status: 403 })
})

t.test('resendInvitation, a second invitation and deleteInvitation make the earlier link invalid', async (t) => {
  const first = await invite('ron@example.com')
  const again = (await call(acme, 'POST', `/v1/invitations/${first.id}/resend`)).json<Sent>()
  t.equal(again.id, first.id)
  t.match(await open(tokenIn(first.url)), dead)
  t.match(await open(tokenIn(again.url)), { status: 200 })
  const replaced = await invite('ron@example.com', 'member')
  t.match(await open(tokenIn(again.url)), dead)
  t.match((await open(tokenIn(replaced.url))).body, { role: 'member' })
  t.same((await call(acme, 'DELETE', `/v1/invitations/${replaced.id}`)).json(), { deleted: true })
  t.match(await open(tokenIn(replaced.url)), dead)
  t.match(await call(acme, 'DELETE', `/v1/invitations/${replaced.id}`), { status: 404 })
})

t.test('an invitation link expires after seven days', async (t) => {
  const { url, id } = await invite('late@example.com')
  passedMs += 7 * dayMs - 60_000
  t.match(await open(tokenIn(url)), { status: 200 })
  passedMs += 60_000
  t.match(await open(tokenIn(url)), dead)
  t.match(await accept(new Browser(parley.url), tokenIn(url)), dead)
  t.match(await call(acme, 'POST', `/v1/invitations/${id}/resend`), { status: 404 })
  passedMs = 0
})

t.test('an existing user must sign in to accept an invitation, because the inviter knows the link too', async (t) => {
  const shop = await admin.organization('shop', { scopes: ['admin'] })
  const { url } = await invite('ann@example.com', 'member', shop)
  const token = tokenIn(url)
  t.match((await open(token)).body, { needsPassword: false })
  const thief = new Browser(parley.url)
  const failed = { status: 401, code: 'SIGN_IN_FAILED' }
  t.match(await accept(thief, token, {}), failed)
  t.match(await accept(thief, token, { password: 'a new password of a thief' }), failed)
  const eve = new Browser(parley.url)
  await signIn(eve, 'sam@example.com')
  t.match(await accept(eve, token, {}), failed, 'nor another person who is signed in')
  const browser = new Browser(parley.url)
  await signIn(browser, 'ann@example.com')
  const before = browser.session
  t.match((await accept(browser, token, {})).body, { organization: { name: 'shop' }, role: 'member' })
  t.not(browser.session, before)
  const other = await admin.organization('third', { scopes: ['admin'] })
  const third = await invite('ann@example.com', 'admin', other)
  const accepted = await accept(new Browser(parley.url), tokenIn(third.url))
  t.match(accepted.body, { organization: { name: 'third' }, role: 'admin', user: { name: 'Ann Miller' } })
})

t.test("an existing user without a password cannot set one by another organization's invitation", async (t) => {
  await runCommand(parley, ['users', 'create', 'old@example.com', '--org', 'acme', '--role', 'owner'])
  const shop = await admin.organization('shop 2', { scopes: ['admin'] })
  const { url } = await invite('old@example.com', 'member', shop)
  t.match((await open(tokenIn(url))).body, { needsPassword: false })
  t.match(await accept(new Browser(parley.url), tokenIn(url)), { status: 401, code: 'SIGN_IN_FAILED' })
})

t.test("only an owner can invite an owner, and resend an owner's invitation", async (t) => {
  const roles = { admin: new Browser(parley.url), owner: ann }
  await runCommand(parley, ['users', 'create', 'boss@example.com', '--org', 'local', '--role', 'admin'])
  const made = await runCommand(parley, ['users', 'session', 'boss@example.com', '--org', 'local'])
  roles.admin.cookies.set('parley_session', made.stdout.trim())
  const wanted = { email: 'next@example.com', role: 'owner' }
  t.match(await roles.admin.post('/v1/invitations', wanted), { status: 403, code: 'FORBIDDEN' })
  t.match(await call(acme, 'POST', '/v1/invitations', wanted), { status: 403 }, 'an admin could have made this key')
  const invited = await roles.owner.post('/v1/invitations', wanted)
  t.match(invited, { status: 201, body: { invitedBy: { type: 'user', name: 'Ann Miller' } } })
  const path = `/v1/invitations/${(invited.body as Sent).id}/resend`
  t.match(await roles.admin.send('POST', path), { status: 403, code: 'FORBIDDEN' })
  t.match(await roles.owner.send('POST', path), { status: 200 })
  t.match(await roles.admin.post('/v1/invitations', { email: 'next2@example.com', role: 'admin' }), { status: 201 })
})

t.test('an organization has at most 100 open invitations, even if many are made at once', async (t) => {
  const crowd = await admin.organization('crowd', { scopes: ['admin'] })
  await sql`
    insert into invitations (organization_id, id, email, role, digest, invited_by_type, created_at, expires_at)
    select ${crowd.id}, 'inv_' || n, 'p' || n || '@example.com', 'viewer', sha256(('x' || n)::bytea), 'operator',
      now(), ${new Date(clock.nowMs() + dayMs)} from generate_series(1, 98) n`
  const wanted = Array.from({ length: 5 }, (_, at) => ({ email: `more${at}@example.com`, role: 'viewer' }))
  const made = await Promise.all(wanted.map((each) => call(crowd, 'POST', '/v1/invitations', each)))
  t.same(made.map(({ status }) => status).sort(), [201, 201, 409, 409, 409])
  t.match(made.find(({ status }) => status === 409)?.json(), { code: 'LIMIT_REACHED' })
  t.match(await invite('p1@example.com', 'member', crowd), { role: 'member' }, 'replacing one is possible')
})

t.test('an email address gets at most three invitations in an hour; the response has the link anyway', async (t) => {
  const answers = []
  for (let at = 0; at < 4; at += 1) answers.push(await invite('many@example.com'))
  t.same(
    answers.map(({ sent }) => sent),
    [true, true, true, false],
  )
  t.match(answers[3], { sendError: /three mails/, url: /#[\w-]{43}$/ })
  passedMs += 3_600_000
  t.match(await invite('many@example.com'), { sent: true })
  passedMs = 0
})

t.test('if the mail server refuses the address or does not answer, createInvitation returns the reason', async (t) => {
  sink.refuse(true)
  t.match(await invite('nobox@example.com'), {
    sent: false,
    sendError: 'The mail server refuses the sender or the address.',
  })
  sink.refuse(false)
  const away = await ownServer(t, { ...sink.env, PARLEY_SMTP_PORT: '1' })
  const reached = await openAdministration(away)
  t.teardown(() => reached.close())
  const target = await reached.organization('acme', { scopes: ['admin'] })
  t.match(await invite('a@example.com', 'viewer', target), {
    sent: false,
    sendError: 'The mail server does not answer.',
  })
})

t.test('`users invite` prints an invitation link, and a link to a disabled organization is invalid', async (t) => {
  const made = await runCommand(parley, ['users', 'invite', 'kim@example.com', '--org', 'acme', '--role', 'owner'])
  t.match(made.stdout, /^http:\/\/\S+\/console\/invite#[\w-]{43}\n$/)
  const token = tokenIn(made.stdout)
  await runCommand(parley, ['org', 'disable', 'acme'])
  t.match(await open(token), dead)
  await runCommand(parley, ['org', 'enable', 'acme'])
  t.match((await accept(new Browser(parley.url), token)).body, { role: 'owner' })
  const again = await runCommand(parley, ['users', 'invite', 'kim@example.com', '--org', 'acme'])
  t.match(again, { code: 1, stderr: /kim@example\.com is in acme already/ })
})
