/** Invitations of people to an organization. */
import type { Clock } from '../../ports/system.ts'
import type { Role } from '../../records/organization.ts'
import { ResourceFault, refuseIssues, requireResource } from '../../records/resource-fault.ts'
import { digestOf, linkTo, newToken } from './links.ts'
import { checkedPassword, type PasswordHashes } from './passwords.ts'
import type { Browser, OpenedSession, Person, Session } from './people.ts'
import type { Post } from './post.ts'
import type { SignIn } from './sign-in.ts'

export type Inviter = { type: 'user' | 'api_key' | 'operator'; id: string | null; name: string | null }

export type Invitation = {
  id: string
  email: string
  /** The name that the inviter has given to the person. */
  name: string | null
  role: Role
  invitedBy: Inviter
  createdAt: Date
  expiresAt: Date
  sentAt: Date | null
}

/** `error` is null if the mail server has taken the mail. */
export type SentInvitation = { invitation: Invitation; url: string; error: string | null }

export type NewInvitation = { email: string; role: Role; name: string | null }

/** A link's times and its token's digest. */
export type NewLink = { digest: Buffer; now: Date; expiresAt: Date }

/**
 * An open invitation as its link shows it. `isNew` is true if no person has the e-mail address, or the person has
 * neither a role nor a way to sign in. Then the link alone is enough.
 */
export type OpenInvitation = {
  email: string
  name: string | null
  role: Role
  invitedBy: string | null
  expiresAt: Date
  organizationId: string
  organizationName: string
  isNew: boolean
}

export type Newcomer = { name: string; passwordHash: string }

export type InvitationStore = {
  list(organizationId: string, now: Date): Promise<Invitation[]>
  find(organizationId: string, id: string, now: Date): Promise<Invitation | null>
  /** Replaces an invitation to the same e-mail address. `limit_reached`: `openMax` invitations are open. */
  insert(
    organizationId: string,
    invitation: NewInvitation & { inviter: Pick<Inviter, 'type' | 'id'> },
    link: NewLink,
    openMax: number,
  ): Promise<Invitation | 'member_exists' | 'limit_reached' | 'no_organization'>
  /** Replaces an open invitation's link. */
  renew(organizationId: string, id: string, link: NewLink): Promise<Invitation | null>
  noteSent(organizationId: string, id: string, sentAt: Date): Promise<void>
  delete(organizationId: string, id: string): Promise<boolean>
  findOpen(digest: Buffer, now: Date): Promise<OpenInvitation | null>
  /**
   * Gives the person the role, ends the invitation and adds an event to the audit log. A new person is made with the
   * name and the password. Resolves with null if the invitation is no longer open, or the person is no longer new.
   */
  accept(digest: Buffer, now: Date, newcomer: Newcomer | null, browser: Browser): Promise<Person | null>
}

export type Invitations = {
  list(organizationId: string): Promise<Invitation[]>
  /** Throws ResourceFault `member_exists` or `limit_reached`. */
  create(
    organization: { id: string; name: string },
    invitation: NewInvitation,
    inviter: Pick<Inviter, 'type' | 'id'>,
  ): Promise<SentInvitation>
  find(organizationId: string, id: string): Promise<Invitation>
  resend(organization: { id: string; name: string }, id: string): Promise<SentInvitation>
  delete(organizationId: string, id: string): Promise<void>
  /** Throws ResourceFault `link_dead`. */
  read(token: string): Promise<OpenInvitation>
  /**
   * `session` is the browser's session, if any. A person who exists must be signed in or send the existing
   * password, because the inviter has seen the link too.
   */
  accept(acceptance: Acceptance, session: Session | null, browser: Browser): Promise<OpenedSession>
}

export type Acceptance = { token: string; name: string; password: string | null }

export type InvitationDeps = {
  invitations: InvitationStore
  signIn: Pick<SignIn, 'prove' | 'chooseOrganization' | 'open'>
  hashes: PasswordHashes
  post: Post
  clock: Pick<Clock, 'nowMs'>
  baseUrl: () => string
}

/** The maximum number of open invitations in an organization. */
export const invitationsMax = 100
export const invitationLifeMs = 7 * 24 * 3_600_000
/** The contract's limits for a new password. */
const passwordCharactersMin = 15
const passwordCharactersMax = 256

export function createInvitations(deps: InvitationDeps): Invitations {
  const { invitations, signIn, hashes, post, clock, baseUrl } = deps
  const now = () => new Date(clock.nowMs())

  function newLink(): NewLink & { url: string } {
    const { token, digest } = newToken()
    const at = now()
    const expiresAt = new Date(at.getTime() + invitationLifeMs)
    return { digest, now: at, expiresAt, url: linkTo(baseUrl(), 'invite', token) }
  }

  async function send(organization: { id: string; name: string }, invitation: Invitation, url: string) {
    const { id, email: to, role, invitedBy } = invitation
    const mail = { to, organizationName: organization.name, role, invitedBy: invitedBy.name, url }
    const error = await post.invite(mail)
    const sentAt = error === null ? now() : invitation.sentAt
    if (error === null) await invitations.noteSent(organization.id, id, now())
    return { invitation: { ...invitation, sentAt }, url, error }
  }

  async function read(token: string): Promise<OpenInvitation> {
    const open = await invitations.findOpen(digestOf(token), now())
    if (open === null) throw new ResourceFault({ kind: 'link_dead' })
    return open
  }

  return {
    read,
    list: (organizationId) => invitations.list(organizationId, now()),
    find: async (organizationId, id) => requireResource(await invitations.find(organizationId, id, now())),
    async create(organization, { email, ...invitation }, inviter) {
      const link = newLink()
      const wanted = { ...invitation, email: email.toLowerCase(), inviter }
      const made = await invitations.insert(organization.id, wanted, link, invitationsMax)
      if (made === 'member_exists') throw new ResourceFault({ kind: 'member_exists' })
      if (made === 'no_organization') throw new ResourceFault({ kind: 'not_found' })
      if (made === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'invitation', limit: invitationsMax })
      return send(organization, made, link.url)
    },
    async resend(organization, id) {
      const link = newLink()
      return send(organization, requireResource(await invitations.renew(organization.id, id, link)), link.url)
    },
    async delete(organizationId, id) {
      if (!(await invitations.delete(organizationId, id))) throw new ResourceFault({ kind: 'not_found' })
    },
    async accept({ token, name, password }, session, browser) {
      const open = await read(token)
      const { organizationId, email } = open
      const isSignedIn = session?.user.email === email
      const hash = () => hashes.hash(newPassword(password, email), browser.ip)
      const newcomer = open.isNew ? { name, passwordHash: await hash() } : null
      const proven = newcomer !== null || isSignedIn ? null : await signIn.prove(email, password ?? '', browser)
      const person = await invitations.accept(digestOf(token), now(), newcomer, browser)
      if (person === null) throw new ResourceFault({ kind: 'link_dead' })
      if (session !== null && isSignedIn) return signIn.chooseOrganization(session, organizationId, browser)
      const proof = newcomer?.passwordHash ?? proven?.passwordHash ?? ''
      return signIn.open(person.id, organizationId, browser, proof)
    },
  }
}

/**
 * Checks the length here instead of in the contract: the field may also contain an existing password, and this may be
 * shorter than a new password.
 */
function newPassword(password: string | null, email: string): string {
  const text = password ?? ''
  const isOfLength = text.length >= passwordCharactersMin && text.length <= passwordCharactersMax
  refuseIssues(isOfLength ? [] : [{ path: ['password'], problem: { kind: 'password_length' } }])
  return checkedPassword(text, email)
}
