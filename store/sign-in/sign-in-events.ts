/**
 * Stores events about signing in. They are in the audit log of the session's organization. Without a session, they are
 * in all the person's organizations.
 */
import type { Browser, SignInFailures } from '../../domain/access/sign-in/people.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { AuditValues } from '../../domain/records/audit.ts'
import { insertAuditEvent } from '../postgres/audit-rows.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { consoleEvent } from './console-events.ts'

export type SignInAction =
  | 'user.signed_in'
  | 'user.signed_out'
  | 'user.password_changed'
  | 'user.password_reset'
  | 'user.identity_linked'

type SignInEvent = {
  action: SignInAction
  userId: string
  /** Null: all the person's organizations. */
  organizationIds: readonly string[] | null
  browser: Browser
  values?: AuditValues
}

export async function insertSignInEvents(tx: Tx, event: SignInEvent, now: Date): Promise<void> {
  const { action, userId, organizationIds, browser, values } = event
  const members = await tx<Member[]>`
    ${selectMembers(tx)} where u.id = ${userId}
    ${organizationIds === null ? tx`` : tx`and r.organization_id = any(${arrayLiteral(organizationIds)}::text[])`}`
  for (const member of members) {
    const made = { ...eventOf(member, action, browser), ...(values && { values }) }
    await insertAuditEvent(tx, { ...made, actor: { type: 'user', id: userId }, result: 'succeeded' }, now)
  }
}

const failed = 'user.sign_in_failed'
/** Failures within this time are one row with their number, so guesses do not fill the table. */
const gatheredMs = 60_000

export function createSignInFailures(tenancy: Tenancy, clock: Clock): SignInFailures {
  return {
    note: (email, browser) =>
      tenancy.asOperator(async (tx) => {
        const members = await tx<Member[]>`${selectMembers(tx)} where u.email = ${email}`
        const nowMs = clock.nowMs()
        for (const member of members) {
          if (await countFailure(tx, member, browser, new Date(nowMs - gatheredMs))) continue
          const made = { ...eventOf(member, failed, browser), values: { attempts: [null, '1'] } } as const
          // The sender is not known to be the person, so the server is the actor.
          const actor = { type: 'system', id: null } as const
          await insertAuditEvent(tx, { ...made, actor, result: 'denied' }, new Date(nowMs))
        }
      }),
  }
}

/** Adds a failure to the person's recent row for the IP address. Resolves with false if there is no such row. */
async function countFailure(tx: Tx, { organizationId, userId }: Member, { ip }: Browser, after: Date) {
  const { count } = await tx`
    update audit_events set value_changes = jsonb_build_object('attempts',
      jsonb_build_array(null, ((value_changes->'attempts'->>1)::int + 1)::text))
    where organization_id = ${organizationId} and target_id = ${userId} and action = ${failed} and occurred_at > ${after}
      and ip is not distinct from ${ip}`
  return count > 0
}

type Member = { organizationId: string; userId: string; email: string }

const selectMembers = (tx: Tx) => tx`
  select r.organization_id as "organizationId", u.id as "userId", u.email
  from users u join user_roles r on r.user_id = u.id`

function eventOf({ organizationId, userId, email }: Member, action: string, browser: Browser) {
  return { ...consoleEvent(organizationId, action, browser), target: { type: 'user', id: userId, name: email } }
}
