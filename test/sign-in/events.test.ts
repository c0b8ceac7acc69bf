/** The audit log has sign-ins, wrong passwords, new passwords and sign-outs. */
import t from 'tap'
import { digestOf, newToken } from '../../domain/access/sign-in/links.ts'
import { call, openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { Browser } from './browser.ts'
import { firstPerson, password, signIn } from './setup.ts'

const parley = await ownServer(t, {})
const admin = await openAdministration(parley)
const sql = openDatabase(parley)
t.teardown(() => Promise.all([admin.close(), sql.end()]))
const scopes = ['platform', 'admin'] as const
const [acme, bolt] = [await admin.organization('acme', { scopes }), await admin.organization('bolt', { scopes })]
await firstPerson(parley.url)
const kim = 'kim@example.com'
for (const { id } of [acme, bolt]) await admin.store.users.create(id, kim, 'viewer')
const person = await admin.store.people.find(kim)
const page = () => new Browser(parley.url)

type Event = { action: string; values?: { attempts: [null, string] } }

/** Reads and deletes the audit events that have been stored so far, oldest first. */
async function newEvents({ id }: typeof acme): Promise<Event[]> {
  const target = id === acme.id ? acme : bolt
  const { events } = (await call(target, 'GET', '/v1/audit-events?action=user.*')).json<{ events: Event[] }>()
  await sql`delete from audit_events where organization_id = ${id} and starts_with(action, 'user.')`
  return events.reverse()
}

const actions = async (organization: typeof acme) => (await newEvents(organization)).map(({ action }) => action)

t.test('a password reset by a link is an audit event in each organization of the person', async (t) => {
  const { token } = newToken()
  const later = new Date(Date.now() + 60_000)
  await admin.store.passwordResets.insert(kim, digestOf(token), new Date(), later, null)
  t.equal((await page().post('/console/auth/password/reset', { token, password })).status, 204)
  t.match(await newEvents(acme), [
    {
      action: 'user.password_reset',
      actor: { type: 'user', id: person?.id, name: kim },
      target: { type: 'user', id: person?.id, name: kim },
      source: { ip: '127.0.0.1', userAgent: 'Firefox of a test', via: 'console' },
      result: 'succeeded',
    },
  ])
  t.same(await actions(bolt), ['user.password_reset'])
})

t.test("the audit log of a session's organization records sign-in, sign-out and a changed password", async (t) => {
  const browser = page()
  t.equal((await signIn(browser, kim)).status, 200)
  t.match(await newEvents(acme), [{ action: 'user.signed_in', values: { method: [null, 'password'] } }])
  t.same(await actions(bolt), [])
  await browser.post('/console/auth/organization', { organizationId: bolt.id })
  t.same([await actions(acme), await actions(bolt)], [[], ['user.signed_in']])
  const next = 'five words of my own now'
  await browser.post('/console/auth/password', { current: password, password: next })
  t.same([await actions(acme), await actions(bolt)], [[], ['user.password_changed', 'user.signed_in']])
  await browser.post('/console/auth/password', { current: next, password })
  t.equal((await browser.post('/console/auth/sign-out', {})).status, 204)
  t.same([await actions(acme), (await actions(bolt)).at(-1)], [[], 'user.signed_out'])
  const [here, there] = [page(), page()]
  await signIn(here, kim)
  await signIn(there, kim)
  await there.post('/console/auth/organization', { organizationId: bolt.id })
  await Promise.all([newEvents(acme), newEvents(bolt)])
  await here.post('/console/auth/sign-out', { everywhere: true })
  t.same([await actions(acme), await actions(bolt)], [['user.signed_out'], ['user.signed_out']])
})

t.test('the wrong passwords of a minute are one audit event in each organization of the person', async (t) => {
  for (let at = 0; at < 3; at += 1) t.match(await signIn(page(), kim, 'a wrong password of mine'), { status: 401 })
  t.match(await signIn(page(), 'nobody@example.com'), { status: 401 })
  const counts = () => sql<{ values: { attempts: [null, string] } }[]>`
    select value_changes as values from audit_events where action = 'user.sign_in_failed'`
  await until(
    'the third wrong password is noted',
    async () => (await counts()).filter(({ values }) => values.attempts[1] === '3').length === 2,
  )
  t.match(await newEvents(acme), [
    {
      action: 'user.sign_in_failed',
      actor: { type: 'system', id: null },
      target: { id: person?.id, name: kim },
      values: { attempts: [null, '3'] },
      result: 'denied',
    },
  ])
  t.same(await actions(bolt), ['user.sign_in_failed'])
})
