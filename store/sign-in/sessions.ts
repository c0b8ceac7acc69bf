/**
 * Stores the console's sessions in the table of all users' credentials. Only a session has a sign-in method (`method`).
 * A user's token has null there.
 */
import { timingSafeEqual } from 'node:crypto'
import type {
  Browser,
  MySession,
  NewSession,
  OpenedSession,
  Session,
  SessionStore,
} from '../../domain/access/sign-in/people.ts'
import { credentialPrefix } from '../../domain/access/users.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Role } from '../../domain/records/organization.ts'
import { heldRole } from '../access/caller-columns.ts'
import { endCredentials, type Forget } from '../access/credentials.ts'
import { newCredential, readCredential } from '../access/key-secret.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { insertSignInEvents } from './sign-in-events.ts'

const listedMax = 200
const userAgentCharactersMax = 256

type Row = {
  id: string
  digest: Buffer
  userId: string
  email: string
  name: string | null
  organizationId: string
  organizationName: string
  isDisabled: boolean
  timeZone: string
  role: Role
  method: string
  signedInAt: Date
  expiresAt: Date
}

export function createSessions(tenancy: Tenancy, clock: Clock, forget: Forget): SessionStore {
  const now = () => new Date(clock.nowMs())
  /** Resolves with the number of ended sessions and tokens. */
  async function signOut(userId: string, id: string | null, browser: Browser): Promise<number> {
    const lookups = await tenancy.asOperator(async (tx) => {
      const ended = await endCredentials(tx, userId, id)
      const { organizationIds } = ended
      await insertSignInEvents(tx, { action: 'user.signed_out', userId, organizationIds, browser }, now())
      return ended.lookups
    })
    for (const lookup of lookups) forget({ lookup })
    return lookups.length
  }
  return {
    open: (session, proof) => tenancy.asOperator((tx) => insertSession(tx, session, proof ?? null, now())),
    async move(id, session) {
      const moved = await tenancy.asOperator(async (tx) => {
        const next = await insertSession(tx, session, null, now())
        if (next !== null) await endCredentials(tx, session.userId, id)
        return next
      })
      if (moved !== null) forget({ lookup: id })
      return moved
    },
    async find(secret) {
      const presented = secret.startsWith(credentialPrefix.session) ? readCredential(secret) : null
      if (presented === null) return null
      const rows = await tenancy.asOperator((tx) => readSessions(tx, presented.lookup))
      const row = rows.find(({ digest }) => timingSafeEqual(digest, presented.digest))
      return row === undefined || row.expiresAt.getTime() <= clock.nowMs() ? null : sessionOf(row)
    },
    list: (userId) =>
      tenancy.asOperator(
        (tx) => tx<MySession[]>`
          select lookup as id, coalesce(signed_in_at, created_at) as "createdAt", last_seen_at as "lastSeenAt", ip,
            user_agent as "userAgent", method
          from user_credentials
          where user_id = ${userId} and method is not null and expires_at > ${new Date(clock.nowMs())}
          order by created_at desc, lookup limit ${listedMax}`,
      ),
    end: async (userId, id, browser) => (await signOut(userId, id, browser)) > 0,
    endAll: (userId, browser) => signOut(userId, null, browser),
  }
}

async function insertSession(
  tx: Tx,
  { userId, organizationId, method, browser, signedInAt, expiresAt }: NewSession,
  proof: string | null,
  now: Date,
): Promise<OpenedSession | null> {
  const { secret, lookup, digest } = newCredential(credentialPrefix.session)
  const userAgent = browser.userAgent?.slice(0, userAgentCharactersMax) ?? null
  const inserted = await tx`
    insert into user_credentials (organization_id, user_id, lookup, digest, method, ip, user_agent, created_at,
      signed_in_at, last_seen_at, expires_at)
    select r.organization_id, r.user_id, ${lookup}, ${digest}, ${method}, ${browser.ip}, ${userAgent}, ${signedInAt},
      ${signedInAt}, ${signedInAt}, ${expiresAt}
    from user_roles r join organizations o on o.id = r.organization_id
    where r.user_id = ${userId} and not o.is_disabled and (${organizationId}::text is null or o.id = ${organizationId})
      and (${proof}::text is null or exists (
        select from identities i where i.user_id = r.user_id and i.kind = 'password' and i.password_hash = ${proof}))
    order by o.name, o.id limit 1 returning lookup`
  if (inserted.length === 0) return null
  const [row] = await readSessions(tx, lookup)
  if (row === undefined) return null
  const event = { action: 'user.signed_in', userId, organizationIds: [row.organizationId], browser } as const
  await insertSignInEvents(tx, { ...event, values: { method: [null, method] } }, now)
  return { secret, session: sessionOf(row) }
}

function readSessions(tx: Tx, lookup: string): Promise<Row[]> {
  return tx<Row[]>`
    select c.lookup as id, c.digest, u.id as "userId", u.email, u.name, o.id as "organizationId",
      o.name as "organizationName", o.is_disabled as "isDisabled", o.time_zone as "timeZone", ${heldRole(tx)} as role,
      coalesce(c.method, 'operator') as method,
      coalesce(c.signed_in_at, c.created_at) as "signedInAt", c.expires_at as "expiresAt"
    from user_credentials c
    join users u on u.id = c.user_id
    join user_roles r on r.organization_id = c.organization_id and r.user_id = c.user_id
    join organizations o on o.id = c.organization_id
    where c.lookup = ${lookup}`
}

function sessionOf({ userId, email, name, organizationId, organizationName, role, ...row }: Row): Session {
  const { id, method, isDisabled, timeZone, signedInAt, expiresAt } = row
  const organization = { id: organizationId, name: organizationName, role, isDisabled, timeZone }
  return { id, user: { id: userId, email, name }, organization, method, signedInAt, expiresAt }
}
