/** The members of an organization over the API: their roles, and the end of their sessions. */
import t from 'tap'
import type { CredentialKind } from '../../domain/access/users.ts'
import { type Role, roles } from '../../domain/records/organization.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Member = { userId: string; email: string | null; role: Role }

const notFound = { status: 404, code: 'NOT_FOUND' }
const forbidden = { status: 403, code: 'FORBIDDEN' }
const lastOwner = { status: 409, code: 'LAST_OWNER' }

async function person(organizationId: string, name: string, role: Role, kind: CredentialKind = 'user_token') {
  const email = `${name}@${organizationId}.example`.toLowerCase()
  const user = await admin.store.users.create(organizationId, email, role)
  if (user === null || user === 'last_owner') throw new Error('no user')
  return { ...(await signIn(organizationId, email, kind)), userId: user.id, email }
}

async function signIn(organizationId: string, email: string, kind: CredentialKind): Promise<Target> {
  const issued = await admin.store.users.issue(organizationId, email, kind)
  return { url: parley.url, key: issued?.secret ?? '' }
}

const list = async (target: Target) => (await call(target, 'GET', '/v1/members')).json<Member[]>()
const rolesIn = async (target: Target) =>
  Object.fromEntries((await list(target)).map(({ userId, role }) => [userId, role]))
const setRole = (target: Target, userId: string, role: Role) => call(target, 'PATCH', `/v1/members/${userId}`, { role })
const remove = (target: Target, userId: string) => call(target, 'DELETE', `/v1/members/${userId}`)
const signOut = (target: Target, userId: string) => call(target, 'POST', `/v1/members/${userId}/sign-out`)
const reads = async (target: Target) => (await call(target, 'GET', '/v1/agents')).status
const ends = (target: Target) => until('the sign-in has ended', async () => (await reads(target)) === 401)

t.test('listMembers shows roles to every member, and email addresses only to admins and owners', async (t) => {
  const { id, ...key } = await admin.organization('lists members')
  const people = await Promise.all(roles.map((role) => person(id, role, role)))
  for (const [at, target] of people.entries()) {
    const members = await list(target)
    t.same(members.map(({ role }) => role).sort(), [...roles].sort())
    const addresses = members.flatMap(({ email }) => email ?? [])
    t.same(addresses.sort(), at < 2 ? [] : people.map(({ email }) => email).sort(), `role ${at}`)
  }
  t.same(
    (await list(key)).map(({ email }) => email),
    [null, null, null, null],
    'a key without the scope admin',
  )
  const administrator = await admin.key(id, { scopes: ['platform', 'admin'] })
  t.match((await list(administrator))[0], { email: /^admin@/, name: null, methods: [], createdAt: /Z$/ })
})

t.test("listMembers shows each member's name, sign-in methods and last use", async (t) => {
  const { id } = await admin.organization('shows people')
  const owner = await person(id, 'owner', 'owner')
  const at = new Date('2026-11-20T10:00:00.000Z')
  await sql`update users set name = 'Ada' where id = ${owner.userId}`
  await sql`
    insert into identities (id, user_id, kind, password_hash, provider, issuer, subject, created_at, changed_at) values
      (${`password of ${id}`}, ${owner.userId}, 'password', 'x', null, null, null, ${at}, ${at}),
      (${`oidc of ${id}`}, ${owner.userId}, 'oidc', null, 'okta', 'https://idp.example', ${id}, ${at}, ${at})`
  await sql`update user_credentials set last_seen_at = ${at} where user_id = ${owner.userId}`
  t.match(await list(owner), [{ name: 'Ada', methods: ['okta', 'password'], lastSeenAt: at.toISOString() }])
})

t.test('updateMember changes a role at once, and only an owner gives or takes the role owner', async (t) => {
  const { id } = await admin.organization('changes members')
  const [owner, administrator] = [await person(id, 'owner', 'owner'), await person(id, 'admin', 'admin')]
  const member = await person(id, 'member', 'member')
  t.match((await setRole(administrator, member.userId, 'viewer')).json(), { userId: member.userId, role: 'viewer' })
  await until('the role counts', async () => (await call(member, 'POST', '/v1/agents', {})).status === 403)
  const key = await admin.key(id, { scopes: ['platform', 'admin'] })
  for (const target of [administrator, key]) {
    t.match(faultOf(await setRole(target, member.userId, 'owner')), forbidden)
    t.match(faultOf(await setRole(target, owner.userId, 'admin')), forbidden)
    t.match(faultOf(await remove(target, owner.userId)), forbidden)
    t.match(faultOf(await signOut(target, owner.userId)), forbidden)
  }
  t.match((await setRole(owner, member.userId, 'owner')).json(), { role: 'owner' })
  t.match((await setRole(owner, owner.userId, 'owner')).json(), { role: 'owner' }, 'the same role')
  t.equal((await setRole(owner, owner.userId, 'member')).status, 200, 'another owner is there')
  t.same(await rolesIn(key), { [owner.userId]: 'member', [administrator.userId]: 'admin', [member.userId]: 'owner' })
  const invalid = { status: 400, code: 'VALIDATION_ERROR', paths: ['/role'] }
  t.same(faultOf(await call(key, 'PATCH', `/v1/members/${owner.userId}`, { role: 'king' })), invalid)
  t.same(faultOf(await call(key, 'PATCH', `/v1/members/${owner.userId}`, {})), invalid)
})

t.test('an organization keeps its last owner, also if two owners leave at the same time', async (t) => {
  const { id } = await admin.organization('keeps an owner')
  const owner = await person(id, 'owner', 'owner')
  t.match(faultOf(await setRole(owner, owner.userId, 'admin')), lastOwner)
  t.match(faultOf(await remove(owner, owner.userId)), lastOwner)
  const other = await person(id, 'other', 'owner')
  const left = await Promise.all([remove(owner, owner.userId), setRole(other, other.userId, 'viewer')])
  t.same(left.map(({ status }) => status).sort(), [200, 409])
})

t.test('removeMember and signOutMember end sessions and tokens in the organization at once', async (t) => {
  const { id } = await admin.organization('ends sessions')
  const { id: elsewhereId } = await admin.organization('goes on')
  const owner = await person(id, 'owner', 'owner')
  const member = await person(id, 'member', 'member')
  await admin.store.users.create(elsewhereId, member.email, 'member')
  const elsewhere = await signIn(elsewhereId, member.email, 'user_token')
  const second = await signIn(id, member.email, 'user_token')
  for (const target of [member, second, elsewhere]) t.equal(await reads(target), 200)
  t.same((await signOut(owner, member.userId)).json(), { sessions: 2 })
  for (const target of [member, second]) await ends(target)
  t.equal(await reads(elsewhere), 200, 'another organization')
  const again = await signIn(id, member.email, 'user_token')
  t.equal(await reads(again), 200, 'the role stays')
  t.same((await remove(owner, member.userId)).json(), { removed: true })
  await ends(again)
  t.same(Object.keys(await rolesIn(owner)), [owner.userId])
  for (const gone of [await remove(owner, member.userId), await signOut(owner, member.userId)])
    t.match(faultOf(gone), notFound)
})

t.test("another organization's member is not found, and does not change", async (t) => {
  const [{ id }, stranger] = [await admin.organization('has members'), await admin.organization('asks for members')]
  const owner = await person(id, 'owner', 'owner')
  const member = await person(id, 'member', 'member')
  const elsewhere = await person(stranger.id, 'owner', 'owner')
  for (const userId of [member.userId, 'usr_0123456789012345678901']) {
    t.match(faultOf(await setRole(elsewhere, userId, 'owner')), notFound)
    t.match(faultOf(await remove(elsewhere, userId)), notFound)
    t.match(faultOf(await signOut(elsewhere, userId)), notFound)
  }
  t.same(Object.keys(await rolesIn(elsewhere)), [elsewhere.userId])
  t.equal((await rolesIn(owner))[member.userId], 'member')
})
