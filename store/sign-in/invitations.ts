/** Invitations to organizations, by their token's digest. An invitation that has expired is not found. */
import type {
  Invitation,
  InvitationStore,
  Inviter,
  Newcomer,
  NewInvitation,
  NewLink,
  OpenInvitation,
} from '../../domain/access/sign-in/invitations.ts'
import type { Browser, Person } from '../../domain/access/sign-in/people.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Role } from '../../domain/records/organization.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { roleStored } from '../access/users.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { insertAuditEvent } from '../postgres/audit-rows.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { joinEvent } from './console-events.ts'
import { insertPassword, insertPerson } from './people.ts'

type Row = Omit<Invitation, 'invitedBy'> & {
  inviterType: Inviter['type']
  inviterId: string | null
  inviterName: string | null
}

const listedMax = 100

export function createInvitationRecords(tenancy: Tenancy): InvitationStore {
  return {
    list: (organizationId, now) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx<Row[]>`
          select ${columns(tx)} from invitations where organization_id = ${organizationId} and expires_at > ${now}
          order by created_at desc, id limit ${listedMax}`
        return rows.map(invitationOf)
      }),
    find: (organizationId, id, now) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [row] = await tx<Row[]>`
          select ${columns(tx)} from invitations
          where organization_id = ${organizationId} and id = ${id} and expires_at > ${now}`
        return row ? invitationOf(row) : null
      }),
    async insert(organizationId, invitation, link, openMax) {
      const inviter = await tenancy.asOperator((tx) => nameInviter(tx, organizationId, invitation))
      if (inviter === 'member_exists') return inviter
      return tenancy.asOrganization(organizationId, (tx) =>
        insertInvitation(tx, organizationId, { ...invitation, inviter }, link, openMax),
      )
    },
    renew: (organizationId, id, { digest, now, expiresAt }) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [row] = await tx<Row[]>`
          update invitations set digest = ${digest}, expires_at = ${expiresAt}
          where organization_id = ${organizationId} and id = ${id} and expires_at > ${now} returning ${columns(tx)}`
        return row ? invitationOf(row) : null
      }),
    noteSent: (organizationId, id, sentAt) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) =>
          void (await tx`
            update invitations set sent_at = ${sentAt} where organization_id = ${organizationId} and id = ${id}`),
      ),
    delete: (organizationId, id) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const deleted = await tx`
          delete from invitations where organization_id = ${organizationId} and id = ${id} returning id`
        return deleted.length > 0
      }),
    findOpen: (digest, now) => tenancy.asOperator((tx) => readOpen(tx, digest, now)),
    accept: (digest, now, newcomer, browser) =>
      tenancy.asOperator((tx) => accept(tx, { digest, now, newcomer, browser })),
  }
}

const columns = (sql: Sql | Tx) => sql`
  id, email, name, role, invited_by_type as "inviterType", invited_by_id as "inviterId", invited_by_name as "inviterName",
  created_at as "createdAt", expires_at as "expiresAt", sent_at as "sentAt"`

function invitationOf({ inviterType: type, inviterId: id, inviterName: name, ...row }: Row): Invitation {
  return { ...row, invitedBy: { type, id, name } }
}

type Invited = NewInvitation & { inviter: Pick<Inviter, 'type' | 'id'> }

/**
 * Finds the inviter's name, to store it in the invitation. Readers of the invitation need not have access to the tables
 * with people.
 */
async function nameInviter(
  tx: Tx,
  organizationId: string,
  { email, inviter }: Invited,
): Promise<Inviter | 'member_exists'> {
  const [member] = await tx`
    select r.user_id from user_roles r join users u on u.id = r.user_id
    where r.organization_id = ${organizationId} and u.email = ${email}`
  if (member) return 'member_exists'
  const [named] = await tx<{ name: string | null }[]>`
    select coalesce(name, email) as name from users where ${inviter.type} = 'user' and id = ${inviter.id}
    union all
    select name from api_keys
    where ${inviter.type} = 'api_key' and organization_id = ${organizationId} and id = ${inviter.id}`
  return { ...inviter, name: named?.name ?? null }
}

/** Locks the organization's row, so two requests do not pass the limit together. */
async function insertInvitation(
  tx: Tx,
  organizationId: string,
  { email, role, name, inviter }: NewInvitation & { inviter: Inviter },
  { digest, now, expiresAt }: NewLink,
  openMax: number,
): Promise<Invitation | 'limit_reached' | 'no_organization'> {
  const [locked] = await tx`select id from organizations where id = ${organizationId} for update`
  if (!locked) return 'no_organization'
  await tx`
    delete from invitations where organization_id = ${organizationId} and (email = ${email} or expires_at <= ${now})`
  const [open] = await tx<{ count: number }[]>`
    select count(*)::int as count from invitations where organization_id = ${organizationId}`
  if ((open?.count ?? 0) >= openMax) return 'limit_reached'
  const [row] = await tx<Row[]>`
    insert into invitations (organization_id, id, email, role, name, digest, invited_by_type, invited_by_id,
      invited_by_name, created_at, expires_at)
    values (${organizationId}, ${`inv_${uniqueId()}`}, ${email}, ${role}, ${name}, ${digest}, ${inviter.type},
      ${inviter.id}, ${inviter.name}, ${now}, ${expiresAt})
    returning ${columns(tx)}`
  if (!row) throw new Error('an inserted invitation was not returned')
  return invitationOf(row)
}

async function readOpen(tx: Tx, digest: Buffer, now: Date): Promise<OpenInvitation | null> {
  const [row] = await tx<OpenInvitation[]>`
    select i.email, i.name, i.role, i.invited_by_name as "invitedBy", i.expires_at as "expiresAt",
      o.id as "organizationId", o.name as "organizationName", not ${isEstablished(tx)} as "isNew"
    from invitations i join organizations o on o.id = i.organization_id
    where i.digest = ${digest} and i.expires_at > ${now} and not o.is_disabled`
  return row ?? null
}

/** SQL: true if the person with the e-mail address in `invitations i` has a role or a way to sign in. */
const isEstablished = (sql: Tx) => sql`
  exists (select from users u where u.email = i.email and (
    exists (select from user_roles r where r.user_id = u.id) or exists (select from identities d where d.user_id = u.id)))`

type Acceptance = { digest: Buffer; now: Date; newcomer: Newcomer | null; browser: Browser }

async function accept(tx: Tx, { digest, now, newcomer, browser }: Acceptance): Promise<Person | null> {
  const open = await readOpen(tx, digest, now)
  if (open === null || open.isNew !== (newcomer !== null)) return null
  const { email, organizationId } = open
  const [taken] = await tx<{ id: string; role: Role }[]>`
    delete from invitations where digest = ${digest} returning id, role`
  const person = taken ? await findOrInsert(tx, email, newcomer, now) : null
  if (!taken || person === null) return null
  const { role, ownerAs } = roleStored(taken.role)
  await tx`
    insert into user_roles (organization_id, user_id, role, owner_as, created_at)
    values (${organizationId}, ${person.id}, ${role}, ${ownerAs}, ${now}) on conflict do nothing`
  await notifyKeyChange(tx, { organizationId })
  const target = { type: 'invitation', id: taken.id, name: email }
  await insertAuditEvent(
    tx,
    joinEvent({ organizationId, userId: person.id, role: taken.role, browser }, 'invitation.accepted', target),
    now,
  )
  return person
}

async function findOrInsert(tx: Tx, email: string, newcomer: Newcomer | null, now: Date): Promise<Person | null> {
  const [known] = await tx<Person[]>`select id, email, name from users where email = ${email} for update`
  if (newcomer === null) return known ?? null
  const person = known ?? (await insertPerson(tx, email, newcomer.name, now))
  await insertPassword(tx, person.id, newcomer.passwordHash, now)
  return person
}

export async function sweepInvitations(system: Sql, clock: Clock): Promise<void> {
  await system`delete from invitations where expires_at < ${new Date(clock.nowMs())}`
}
