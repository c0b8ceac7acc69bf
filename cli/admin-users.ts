/** The store operations behind the command `users`. */
import { CommandError, noOrganization, required, UsageError } from './command-error.ts'

/** A user's credential, shown once. */
type IssuedCredential = { secret: string; expiresAt: Date }
export type UserRow<Role extends string = string> = { id: string; email: string; organizationId: string; role: Role }

/** The commands. An organization is given by its name or its id. */
export type UserCommands = {
  users(organization: string): Promise<UserRow[]>
  /** If no role is given, the first user becomes owner, and every later user becomes member. */
  createUser(organization: string, email: string, role: string | null): Promise<UserRow>
  issueCredential(organization: string, email: string, kind: 'user_token' | 'session'): Promise<IssuedCredential>
  removeUser(organization: string, email: string): Promise<boolean>
  /** Ends the person's sessions and tokens in all organizations, and returns their number. */
  signOutUser(email: string): Promise<number>
  /** Makes a link for a new password, and returns it. */
  resetUser(email: string): Promise<string>
  /** Makes a link to invite a person, and returns it. Without a role the person becomes member. */
  inviteUser(organization: string, email: string, role: string | null): Promise<string>
}

/** The store's methods that these commands use. */
export type UserStore<Role extends string> = {
  list(organizationId: string): Promise<UserRow[]>
  create(organizationId: string, email: string, role: Role): Promise<UserRow | 'last_owner' | null>
  issue(organizationId: string, email: string, kind: 'user_token' | 'session'): Promise<IssuedCredential | null>
  remove(organizationId: string, email: string): Promise<boolean | 'last_owner'>
  signOut(email: string): Promise<number | null>
}

/** Makes links for people. `reset` resolves with null if the person does not exist. */
export type UserLinks<Role extends string> = {
  reset(email: string): Promise<string | null>
  invite(
    organizationId: string,
    email: string,
    role: Role,
  ): Promise<{ url: string } | 'member_exists' | 'limit_reached' | 'no_organization'>
}

/** Makes the commands for users. `organizationId` finds the id for an id or a name. */
export function createUserCommands<Role extends string>(
  { store, links }: { store: UserStore<Role>; links: UserLinks<Role> },
  organizationId: (nameOrId: string) => Promise<string>,
  roles: readonly Role[],
): UserCommands {
  return {
    users: async (organization) => store.list(await organizationId(organization)),
    createUser: async (organization, email, role) => {
      const id = await organizationId(organization)
      const isFirst = (await store.list(id)).length === 0
      const created = await store.create(id, email, readRole(roles, role ?? (isFirst ? 'owner' : 'member')))
      if (created === 'last_owner') throw lastOwner(email, organization)
      return required(created, noOrganization(organization))
    },
    issueCredential: async (organization, email, kind) =>
      required(
        await store.issue(await organizationId(organization), email, kind),
        `${email} is no user of ${organization}`,
      ),
    removeUser: async (organization, email) => {
      const removed = await store.remove(await organizationId(organization), email)
      if (removed === 'last_owner') throw lastOwner(email, organization)
      return removed
    },
    resetUser: async (email) => required(await links.reset(email), noPerson(email)),
    inviteUser: async (organization, email, role) => {
      const id = await organizationId(organization)
      const invited = await links.invite(id, email, readRole(roles, role ?? 'member'))
      if (typeof invited === 'string') throw notInvited(invited, email, organization)
      return invited.url
    },
    signOutUser: async (email) => required(await store.signOut(email), noPerson(email)),
  }
}

function readRole<Role extends string>(roles: readonly Role[], name: string): Role {
  const role = roles.find((each) => each === name)
  if (role === undefined) throw new UsageError(`${name} is no role; there are ${roles.join(', ')}`)
  return role
}

function notInvited(why: 'member_exists' | 'limit_reached' | 'no_organization', email: string, organization: string) {
  if (why === 'member_exists') return new CommandError(`${email} is in ${organization} already`)
  if (why === 'limit_reached') return new CommandError(`${organization} has too many open invitations`)
  return new CommandError(noOrganization(organization))
}

const noPerson = (email: string) => `there is no person ${email}`

const lastOwner = (email: string, organization: string) =>
  new CommandError(
    `${email} is the only owner of ${organization}; make another person its owner first: \`parley users create EMAIL --org ${organization} --role owner\``,
  )
