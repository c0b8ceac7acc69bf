/** Signing in with an OpenID Connect provider: accounts, invitations, domains, and forged responses. */
import t from 'tap'
import { systemClock } from '../../runtime/timing/clock.ts'
import { call, openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { ownServer } from '../server.ts'
import { Browser, type Page } from './browser.ts'
import { signInAtIssuer, startIssuer } from './issuer.ts'
import { firstPerson, sessionOf, signIn } from './setup.ts'

let passedMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
const issuer = await startIssuer(t)
const company = {
  id: 'company',
  name: 'Company account',
  issuer: issuer.url,
  clientId: 'parley',
  clientSecret: 'env:PARLEY_TEST_OIDC_SECRET',
}
const settings = (more: object = {}) => ({
  PARLEY_OIDC: JSON.stringify([{ ...company, ...more }]),
  PARLEY_TEST_OIDC_SECRET: 'secret of the client',
})
const parley = await ownServer(t, settings(), { clock })
const back = `${parley.url}/console/auth/oidc/company/callback`
issuer.open(back)
const admin = await openAdministration(parley)
t.teardown(() => admin.close())
const sql = openDatabase(parley)
t.teardown(() => sql.end())
await firstPerson(parley.url)
const acme = await admin.organization('acme', { scopes: ['admin'] })
const invite = (email: string, role = 'member') => call(acme, 'POST', '/v1/invitations', { email, role })

const locationOf = ({ headers }: Page) => String(headers['location'])
/**
 * The headers of a navigation from the issuer's page to our server: the browser sends the cookie, and says that it
 * comes from another site.
 */
const fromIssuer = { 'sec-fetch-site': 'cross-site' }
const start = async (browser: Browser, returnTo = '/console/calls?t=3') =>
  locationOf(await browser.get(`/console/auth/oidc/company/start?returnTo=${encodeURIComponent(returnTo)}`))
const finish = (browser: Browser, { pathname, search }: URL) => browser.get(pathname + search, fromIssuer)

/** Signs in at the issuer and comes back. `change` may forge the request to the issuer. */
async function come(browser: Browser, login: string, change: (request: URL) => void = () => {}): Promise<URL> {
  const request = new URL(await start(browser))
  change(request)
  return signInAtIssuer(request.href, login, back)
}
const failed = (error: string) => `/console/login?error=${error}`

t.test('getConsoleMethods lists the OpenID Connect provider, and an unknown provider is not found', async (t) => {
  const browser = new Browser(parley.url)
  t.match((await browser.get('/console/auth/methods')).body, { oidc: [{ id: 'company', name: 'Company account' }] })
  t.match(await browser.get('/console/auth/oidc/other/start'), { status: 404, code: 'NOT_FOUND' })
})

t.test(
  'a first OIDC sign-in accepts an open invitation to its verified email; later sign-ins match by issuer and subject',
  async (t) => {
    issuer.accounts.set('sam', { email: 'Sam@example.com', email_verified: true, name: 'Sam Jones' })
    await invite('sam@example.com')
    const browser = new Browser(parley.url)
    const answer = await finish(browser, await come(browser, 'sam'))
    t.equal(answer.status, 302)
    t.equal(locationOf(answer), '/console/calls?t=3')
    t.match(answer.headers, { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    t.notOk(browser.cookies.has('parley_oidc'))
    const session = sessionOf(await browser.get('/console/auth/session'))
    t.match(session, { user: { name: 'Sam Jones', email: 'sam@example.com' }, organization: { name: 'acme' } })
    t.match(session, { role: 'member', method: 'company' })
    t.same((await call(acme, 'GET', '/v1/invitations')).json(), [])
    issuer.accounts.set('sam', { email: 'other@example.com', email_verified: false })
    const again = new Browser(parley.url)
    t.equal(locationOf(await finish(again, await come(again, 'sam'))), '/console/calls?t=3')
    t.equal(sessionOf(await again.get('/console/auth/session')).user.id, session.user.id)
    await admin.store.users.remove(acme.id, 'sam@example.com')
    t.equal(locationOf(await finish(again, await come(again, 'sam'))), failed('oidc_no_account'))
    issuer.accounts.set('sam', { email: 'sam@example.com', email_verified: true })
    t.equal(locationOf(await finish(again, await come(again, 'sam'))), failed('oidc_no_account'), 'no invitation')
    await invite('sam@example.com')
    t.equal(locationOf(await finish(again, await come(again, 'sam'))), '/console/calls?t=3', 'a new invitation')
    t.match(sessionOf(await again.get('/console/auth/session')), { organization: { name: 'acme' }, role: 'member' })
  },
)

t.test('an OIDC sign-in is refused without an invitation, or if the email address is not verified', async (t) => {
  issuer.accounts.set('ann', { email: 'ann@example.com', email_verified: true })
  const browser = new Browser(parley.url)
  t.equal(locationOf(await finish(browser, await come(browser, 'ann'))), failed('oidc_no_account'))
  issuer.accounts.set('liar', { email: 'kim@example.com', email_verified: false })
  await invite('kim@example.com')
  t.equal(locationOf(await finish(browser, await come(browser, 'liar'))), failed('oidc_unverified'))
  t.equal(browser.session, '')
})

t.test('if an existing user accepts an invitation by OIDC, earlier password and sessions become invalid', async (t) => {
  const before = new Browser(parley.url)
  await signIn(before, 'ann@example.com')
  await invite('ann@example.com', 'viewer')
  const browser = new Browser(parley.url)
  t.equal(locationOf(await finish(browser, await come(browser, 'ann'))), '/console/calls?t=3')
  t.match(sessionOf(await browser.get('/console/auth/session')), { organization: { name: 'acme' }, role: 'viewer' })
  t.equal((await before.get('/v1/organization')).status, 401)
  t.match(await signIn(before, 'ann@example.com'), { status: 401, code: 'SIGN_IN_FAILED' })
})

t.test('forged and repeated OIDC authorization responses are refused', async (t) => {
  const refused = async (change: (answer: URL) => void, forge?: (request: URL) => void) => {
    const browser = new Browser(parley.url)
    const answer = await come(browser, 'ann', forge)
    change(answer)
    const location = locationOf(await finish(browser, answer))
    t.equal(browser.session, '')
    return location
  }
  const set = (name: string, value: string) => (url: URL) => url.searchParams.set(name, value)
  t.equal(await refused(set('state', 'forged')), failed('oidc_state'))
  t.equal(await refused(set('iss', 'https://evil.example')), failed('oidc_state'))
  t.equal(await refused(set('code', 'forged')), failed('oidc_state'))
  t.equal(await refused(() => {}, set('nonce', 'forged')), failed('oidc_state'))
  // The issuer gets another challenge, so the cookie's verifier does not fit the code.
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
  t.equal(await refused(() => {}, set('code_challenge', challenge)), failed('oidc_state'))

  const browser = new Browser(parley.url)
  const answer = await come(browser, 'ann')
  const cookie = browser.cookies.get('parley_oidc') ?? ''
  t.equal(locationOf(await finish(new Browser(parley.url), answer)), failed('oidc_state'), 'another browser')
  t.equal(locationOf(await finish(browser, answer)), '/console/calls?t=3')
  browser.cookies.set('parley_oidc', cookie)
  t.equal(locationOf(await finish(browser, answer)), failed('oidc_state'), 'a second use of the code')
  browser.cookies.set('parley_oidc', `${cookie.slice(0, -2)}AA`)
  t.equal(locationOf(await finish(browser, answer)), failed('oidc_state'), 'a changed cookie')
})

t.test('OIDC sign-in fails after a refusal or a late response, and never redirects to another site', async (t) => {
  const browser = new Browser(parley.url)
  const state = new URL(await start(browser)).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ error: 'access_denied', state, iss: issuer.url })
  t.equal(locationOf(await finish(browser, new URL(`${back}?${query.toString()}`))), failed('oidc_denied'))
  const answer = await come(browser, 'ann')
  passedMs += 600_000
  t.equal(locationOf(await finish(browser, answer)), failed('oidc_state'))
  passedMs = 0
  for (const page of ['https://evil.example/', '//evil.example', '/console//evil', '/console/\\evil', '/try']) {
    const request = await start(browser, page)
    const location = locationOf(await finish(browser, await signInAtIssuer(request, 'ann', back)))
    t.equal(location, '/console/', page)
  }
})

t.test('neither the PKCE verifier nor the client secret is readable in the URL, the cookie or the log', async (t) => {
  const browser = new Browser(parley.url)
  const request = await start(browser)
  t.notMatch(request, 'secret of the client')
  t.match(request, /code_challenge_method=S256/)
  const sealed = Buffer.from(browser.cookies.get('parley_oidc') ?? '', 'base64url').toString('latin1')
  t.notMatch(sealed, new URL(request).searchParams.get('nonce') ?? 'none')
  t.notMatch(parley.output(), 'secret of the client')
})

t.test('a user with an email in a configured domain gets the configured role, without an invitation', async (t) => {
  const databaseUrl = parley.databaseUrl
  const joining = { domains: ['Works.example'], organization: acme.id, role: 'viewer' }
  const port = new URL(parley.url).port
  const joined = await ownServer(
    t,
    { ...settings(joining), DATABASE_URL: databaseUrl, PARLEY_PUBLIC_URL: `http://127.0.0.1:${port}` },
    { clock },
  )
  issuer.accounts.set('joe', { email: 'joe@works.example', email_verified: true })
  issuer.accounts.set('eve', { email: 'eve@notworks.example', email_verified: true })
  const browser = new Browser(joined.url)
  t.equal(locationOf(await finish(browser, await come(browser, 'joe'))), '/console/calls?t=3')
  t.match(sessionOf(await browser.get('/console/auth/session')), { organization: { name: 'acme' }, role: 'viewer' })
  const other = new Browser(joined.url)
  t.equal(locationOf(await finish(other, await come(other, 'eve'))), failed('oidc_no_account'))
})

t.test('an OIDC provider that does not answer causes a 503, and wrong OIDC settings make the start fail', async (t) => {
  const away = await ownServer(t, settings({ issuer: 'http://127.0.0.1:1' }))
  t.match(await new Browser(away.url).get('/console/auth/oidc/company/start'), { status: 503 })
  const refused = (more: object, why: RegExp) => t.rejects(ownServer(t, settings(more)), why)
  await refused({ domains: ['works.example'] }, /company has domains, and so needs organization/)
  await refused({ issuer: 'http://login.example' }, /must be https/)
  await refused({ clientSecret: 'env:PARLEY_TEST_NOTHING' }, /PARLEY_TEST_NOTHING is not set/)
})
