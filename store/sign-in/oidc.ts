/** Finds and links people by their accounts at a provider of OpenID Connect. */
import type { OidcEntry, OidcStore } from '../../domain/access/sign-in/oidc.ts'
import type { Person } from '../../domain/access/sign-in/people.ts'
import type { Role } from '../../domain/records/organization.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { endCredentials, type Forget } from '../access/credentials.ts'
import { roleStored } from '../access/users.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { locks } from '../postgres/advisory-locks.ts'
import { insertAuditEvent } from '../postgres/audit-rows.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { joinEvent } from './console-events.ts'
import { insertPerson } from './people.ts'
import { insertSignInEvents } from './sign-in-events.ts'

/** The role that a person gets by signing in. `invitationId` is null if the person's e-mail domain gives the role. */
type Right = { organizationId: string; role: Role; invitationId: string | null }

export function createOidcPeople(tenancy: Tenancy, forget: Forget): OidcStore {
  return {
    async enter(entry) {
      const ended: string[] = []
      const entered = await tenancy.asOperator(async (tx) => {
        const known = await findByPair(tx, entry)
        if (known !== null) return enterKnown(tx, entry, known)
        return entry.verifiedEmail === null ? null : link(tx, entry, entry.verifiedEmail, ended)
      })
      for (const lookup of ended) forget({ lookup })
      return entered
    },
  }
}

async function findByPair(tx: Tx, { issuer, subject }: OidcEntry): Promise<string | null> {
  const [row] = await tx<{ userId: string }[]>`
    select user_id as "userId" from identities where kind = 'oidc' and issuer = ${issuer} and subject = ${subject}`
  return row?.userId ?? null
}

/**
 * Lets a known person without a role accept an open invitation to the person's verified e-mail address. Such a person
 * cannot use the invitation's link: to use it, an existing person must be signed in or enter a password, and this
 * person can do neither.
 */
async function enterKnown(tx: Tx, entry: OidcEntry, userId: string) {
  const [outside] = await tx`
    select u.id from users u where u.id = ${userId} and u.email = ${entry.verifiedEmail} and not exists (
      select from user_roles r join organizations o on o.id = r.organization_id
      where r.user_id = u.id and not o.is_disabled)`
  const right =
    outside && entry.verifiedEmail !== null ? await takeInvitation(tx, entry.verifiedEmail, entry.now) : null
  if (right !== null) await giveRole(tx, userId, right, entry)
  return { userId, organizationId: right?.organizationId ?? null }
}

/** Takes the lock for people, so that two browsers of a new person do not create the person twice. */
async function link(tx: Tx, entry: OidcEntry, email: string, ended: string[]) {
  await tx`select pg_advisory_xact_lock(${locks.firstPerson})`
  const known = await findByPair(tx, entry)
  if (known !== null) return { userId: known, organizationId: null }
  const right = (await takeInvitation(tx, email, entry.now)) ?? (await rightOfDomain(tx, entry, email))
  if (right === null) return null
  const [person] = await tx<Person[]>`select id, email, name from users where email = ${email} for update`
  const { id: userId } = person ?? (await insertPerson(tx, email, entry.name, entry.now))
  await tx`delete from identities where user_id = ${userId} and kind = 'password'`
  ended.push(...(await endCredentials(tx, userId)).lookups)
  await tx`
    insert into identities (id, user_id, kind, provider, issuer, subject, created_at, changed_at)
    values (${`idn_${uniqueId()}`}, ${userId}, 'oidc', ${entry.provider}, ${entry.issuer}, ${entry.subject},
      ${entry.now}, ${entry.now})`
  await giveRole(tx, userId, right, entry)
  const [organizationIds, values] = [[right.organizationId], { provider: [null, entry.provider] as const }]
  const linked = { action: 'user.identity_linked', userId, organizationIds, browser: entry.browser, values } as const
  await insertSignInEvents(tx, linked, entry.now)
  return { userId, organizationId: right.organizationId }
}

/** Deletes the newest open invitation to the e-mail address, and returns its organization and role. */
async function takeInvitation(tx: Tx, email: string, now: Date): Promise<Right | null> {
  const [right] = await tx<Right[]>`
    delete from invitations where (organization_id, id) in (
      select i.organization_id, i.id from invitations i join organizations o on o.id = i.organization_id
      where i.email = ${email} and i.expires_at > ${now} and not o.is_disabled
      order by i.created_at desc limit 1 for update of i)
    returning organization_id as "organizationId", role, id as "invitationId"`
  return right ?? null
}

async function rightOfDomain(tx: Tx, { joining }: OidcEntry, email: string): Promise<Right | null> {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const { organizationId, role, domains } = joining
  if (organizationId === null || !domains.some((each) => each.toLowerCase() === domain)) return null
  const [organization] = await tx`select id from organizations where id = ${organizationId} and not is_disabled`
  return organization ? { organizationId, role, invitationId: null } : null
}

async function giveRole(tx: Tx, userId: string, right: Right, { verifiedEmail, browser, now }: OidcEntry) {
  const { organizationId, role, invitationId } = right
  const { role: stored, ownerAs } = roleStored(role)
  await tx`
    insert into user_roles (organization_id, user_id, role, owner_as, created_at)
    values (${organizationId}, ${userId}, ${stored}, ${ownerAs}, ${now}) on conflict do nothing`
  await notifyKeyChange(tx, { organizationId })
  const join = { organizationId, userId, role, browser }
  const event =
    invitationId === null
      ? joinEvent(join, 'member.created', { type: 'member', id: userId, name: verifiedEmail })
      : joinEvent(join, 'invitation.accepted', { type: 'invitation', id: invitationId, name: verifiedEmail })
  await insertAuditEvent(tx, event, now)
}
