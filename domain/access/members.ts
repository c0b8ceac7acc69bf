/** The people with a role in an organization, as the organization itself administers them. */
import type { AuditEntry } from '../records/audit.ts'
import type { Role } from '../records/organization.ts'

export type Member = {
  userId: string
  name: string | null
  email: string
  role: Role
  /** How the person can sign in: `password`, and the ids of OIDC providers. */
  methods: string[]
  /** The last use of a valid session or token. Null if there was no use. */
  lastSeenAt: Date | null
  /** The time when the person got a role. */
  createdAt: Date
}

/**
 * The reasons for a refusal. `owners_only`: only an owner gives or takes the role owner. `last_owner`: the organization
 * would have no owner.
 */
export type MemberRefusal = 'owners_only' | 'last_owner'

/** If the change has no effect, `before` and `after` are equal. */
export type RoleChange = { before: Role; after: Role }

/**
 * Administers members. `byOwner` is true if an owner requests the change. The transaction stores `entry` in the audit
 * log. Methods resolve with null if the person has no role in the organization.
 */
export type Members = {
  /** Lists at most 10,000 members, ordered by email address. */
  list(organizationId: string): Promise<Member[]>
  find(organizationId: string, userId: string): Promise<Member | null>
  change(
    organizationId: string,
    userId: string,
    role: Role,
    byOwner: boolean,
    entry?: AuditEntry,
  ): Promise<RoleChange | MemberRefusal | null>
  /** Removes the role, and with it all sessions and tokens in the organization. Resolves with the role. */
  remove(
    organizationId: string,
    userId: string,
    byOwner: boolean,
    entry?: AuditEntry,
  ): Promise<Role | MemberRefusal | null>
  /** Ends all sessions and tokens in the organization. Resolves with their number. */
  signOut(
    organizationId: string,
    userId: string,
    byOwner: boolean,
    entry?: AuditEntry,
  ): Promise<number | MemberRefusal | null>
}
