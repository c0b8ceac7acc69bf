/** Users and the hashes of their tokens and sessions. */
import t from 'tap'
import { sweepCredentials } from '../../store/access/users.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('a user token and a session are issued, checked and revoked', async (t) => {
  const url = await cluster.database()
  const sql = cluster.sql(t, url)
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const { id } = await organization(store, 'acme')
  const { id: other } = await organization(store, 'other')
  const email = 'ann@example.com'
  const issue = async (kind: 'user_token' | 'session') => (await store.users.issue(id, email, kind))?.secret ?? ''

  t.equal(await store.users.issue(id, email, 'user_token'), null, 'a stranger gets none')
  t.equal(await store.users.create('org_nobody', email, 'member'), null)
  const user = await store.users.create(id, 'Ann@Example.com', 'member')
  t.match(user, { email, organizationId: id, role: 'member' })
  if (user === null || user === 'last_owner') throw new Error('no user')
  t.equal(await store.users.issue(other, email, 'user_token'), null, 'a role is for one organization')

  const [token, session] = [await issue('user_token'), await issue('session')]
  t.match(token, /^ut_[0-9A-Za-z]{43}$/)
  t.match(session, /^us_[0-9A-Za-z]{43}$/)
  const who = { organization: { id, name: 'acme' }, role: 'member' as const, test: false }
  const caller = { ...who, scopes: ['router', 'realtime', 'platform'] }
  t.match(await store.keys.verify(token), { ...caller, keyId: user.id, policy: {} })
  t.match(await store.keys.verify(session), caller)
  t.equal(await store.keys.verify(`${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`), null)
  const dump = JSON.stringify(await sql`select * from user_credentials`)
  t.notOk(dump.includes(token.slice(3)) || dump.includes(session.slice(3)), 'only a hash is stored')

  clock.setMs += 3_540_000
  t.ok(await store.keys.verify(token), 'good for an hour')
  clock.setMs += 60_001
  t.equal(await store.keys.verify(token), null, 'not longer')
  t.ok(await store.keys.verify(session))
  await sweepCredentials(sql, clock)
  t.match(await sql`select count(*)::int from user_credentials`, [{ count: 1 }], 'the expired one is forgotten')
  clock.setMs += 11 * 3_600_000
  t.equal(await store.keys.verify(session), null, 'a session ends after 12 hours')

  t.match(await store.keys.find(id, user.id), caller, 'what the user began goes on')
  t.equal(await store.keys.find(other, user.id), null)
  const last = await issue('user_token')
  t.equal(await store.users.remove(other, email), false)
  t.equal(await store.users.remove(id, email), true)
  t.equal(await store.keys.verify(last), null, 'the role has taken its credentials along')
  t.equal(await store.keys.find(id, user.id), null)
})

t.test('an organization keeps its last owner, even if two owners leave at the same time', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id } = await organization(store, 'acme')
  const [ann, bob] = ['ann@example.com', 'bob@example.com']
  for (const email of [ann, bob]) t.match(await store.users.create(id, email, 'owner'), { role: 'owner' })
  const answers = await Promise.all([store.users.remove(id, ann), store.users.create(id, bob, 'viewer')])
  t.equal(answers.filter((answer) => answer === 'last_owner').length, 1)
  const [owner] = (await store.users.list(id)).filter(({ role }) => role === 'owner')
  t.ok(owner)
  t.equal(await store.users.create(id, owner?.email ?? '', 'admin'), 'last_owner')
  t.equal(await store.users.remove(id, owner?.email ?? ''), 'last_owner')
})
