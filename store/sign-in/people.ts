/** People and their passwords. A person may have roles in several organizations, so the operator's access is needed. */
import type { KnownPerson, Membership, PeopleStore, Person } from '../../domain/access/sign-in/people.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { heldRole } from '../access/caller-columns.ts'
import { endCredentials, type Forget } from '../access/credentials.ts'
import { insertOrganization } from '../access/organizations.ts'
import { ownerColumns } from '../access/users.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { locks } from '../postgres/advisory-locks.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { insertSignInEvents } from './sign-in-events.ts'

const membershipsMax = 1000

/** Settings for the first person's organization, if the server has no organization. */
const firstOrganization = {
  name: 'main',
  maxConcurrency: null,
  creditMicroUsd: 0,
  smsEnabled: false,
  rmsgEnabled: false,
  recordingEnabled: false,
}

export function createPeople(tenancy: Tenancy, clock: Clock, forget: Forget): PeopleStore {
  const now = () => new Date(clock.nowMs())
  return {
    isEmpty: () =>
      tenancy.asOperator(async (tx) => {
        const rows = await tx`select from users limit 1`
        return rows.length === 0
      }),
    find: (email) => tenancy.asOperator((tx) => findPerson(tx, email)),
    setUp: (first) => tenancy.asOperator((tx) => insertFirst(tx, first, now())),
    rename: (userId, name) =>
      tenancy.asOperator(async (tx) => void (await tx`update users set name = ${name} where id = ${userId}`)),
    async changePassword({ userId, organizationId, browser, ...replacement }) {
      const ended = await tenancy.asOperator(async (tx) => {
        if (!(await replacePassword(tx, { userId, ...replacement }, now()))) return null
        const event = { action: 'user.password_changed', userId, organizationIds: [organizationId], browser } as const
        await insertSignInEvents(tx, event, now())
        return endCredentials(tx, userId)
      })
      for (const lookup of ended?.lookups ?? []) forget({ lookup })
      return ended !== null
    },
    rehash: (userId, passwordHash, replaces) =>
      tenancy.asOperator(async (tx) => void (await replacePassword(tx, { userId, passwordHash, replaces }, now()))),
    memberships: (userId) => tenancy.asOperator((tx) => membershipsOf(tx, userId)),
  }
}

async function findPerson(tx: Tx, email: string): Promise<KnownPerson | null> {
  const [row] = await tx<KnownPerson[]>`
    select u.id, u.email, u.name, i.password_hash as "passwordHash"
    from users u left join identities i on i.user_id = u.id and i.kind = 'password' where u.email = ${email}`
  return row ?? null
}

type Replacement = { userId: string; passwordHash: string; replaces: string }

async function replacePassword(tx: Tx, { userId, passwordHash, replaces }: Replacement, now: Date): Promise<boolean> {
  const changed = await tx`
    update identities set password_hash = ${passwordHash}, changed_at = ${now}
    where user_id = ${userId} and kind = 'password' and password_hash = ${replaces} returning id`
  return changed.length > 0
}

export async function insertPerson(tx: Tx, email: string, name: string | null, now: Date): Promise<Person> {
  const [person] = await tx<Person[]>`
    insert into users (id, email, name, created_at) values (${`usr_${uniqueId()}`}, ${email}, ${name}, ${now})
    returning id, email, name`
  if (!person) throw new Error('an inserted person was not returned')
  return person
}

export async function insertPassword(tx: Tx, userId: string, passwordHash: string, now: Date): Promise<void> {
  await tx`
    insert into identities (id, user_id, kind, password_hash, created_at, changed_at)
    values (${`idn_${uniqueId()}`}, ${userId}, 'password', ${passwordHash}, ${now}, ${now})`
}

async function insertFirst(
  tx: Tx,
  { email, name, passwordHash }: Parameters<PeopleStore['setUp']>[0],
  now: Date,
): Promise<Person | null> {
  await tx`select pg_advisory_xact_lock(${locks.firstPerson})`
  const [anybody] = await tx`select id from users limit 1`
  if (anybody) return null
  const organizationId = (await oldestOrganization(tx)) ?? (await insertOrganization(tx, firstOrganization, now)).id
  const person = await insertPerson(tx, email, name, now)
  await insertPassword(tx, person.id, passwordHash, now)
  await tx`
    insert into user_roles (organization_id, user_id, role, owner_as, created_at)
    values (${organizationId}, ${person.id}, ${ownerColumns.role}, ${ownerColumns.ownerAs}, ${now})`
  await notifyKeyChange(tx, { organizationId })
  return person
}

async function oldestOrganization(tx: Tx): Promise<string | null> {
  const [row] = await tx<{ id: string }[]>`
    select id from organizations where not is_disabled order by created_at, id limit 1`
  return row?.id ?? null
}

async function membershipsOf(tx: Tx, userId: string): Promise<Membership[]> {
  return tx<Membership[]>`
    select o.id, o.name, ${heldRole(tx)} as role from user_roles r join organizations o on o.id = r.organization_id
    where r.user_id = ${userId} and not o.is_disabled order by o.name, o.id limit ${membershipsMax}`
}
