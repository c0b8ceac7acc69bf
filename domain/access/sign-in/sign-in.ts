/** Signing in with a password, and the sessions of the console. */
import type { Clock, Log } from '../../ports/system.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import type { LockOut } from './lock-out.ts'
import { checkedPassword, type PasswordHashes, spelled } from './passwords.ts'
import type {
  Browser,
  KnownPerson,
  MySession,
  OpenedSession,
  PeopleStore,
  Session,
  SessionStore,
  SignInFailures,
} from './people.ts'

export type SignInDeps = {
  people: PeopleStore
  sessions: SessionStore
  hashes: PasswordHashes
  lockOut: LockOut
  failures: SignInFailures
  clock: Pick<Clock, 'nowMs'>
  log: Pick<Log, 'error' | 'warn'>
  sessionS: number
  /** Returns true if `parley up` prints this code. */
  isSetupCode: (code: string) => boolean
}

/** If `isLocal`, a browser on this machine has sent the request, and only this machine reaches the server. */
export type Setup = { email: string; name: string; password: string; code: string; isLocal: boolean }
export type Credentials = { email: string; password: string; organizationId: string | null }

export type SignIn = {
  isSetUp(): Promise<boolean>
  setUp(setup: Setup, browser: Browser): Promise<OpenedSession>
  signIn(credentials: Credentials, browser: Browser): Promise<OpenedSession>
  chooseOrganization(session: Session, organizationId: string, browser: Browser): Promise<OpenedSession>
  changePassword(
    session: Session,
    change: { current: string; password: string },
    browser: Browser,
  ): Promise<OpenedSession>
  /** Ends one session. Throws ResourceFault `not_found` if the person has no such session. */
  endSession(session: Session, id: string, browser: Browser): Promise<void>
  listSessions(session: Session): Promise<(MySession & { current: boolean })[]>
  /**
   * Resolves with the person if the password is right. Throws ResourceFault `sign_in_failed` or `attempts_blocked`. An
   * unknown e-mail address takes as much work as a wrong password.
   */
  prove(email: string, password: string, browser: Browser): Promise<KnownPerson>
  /**
   * Opens a session in the organization, or in the first one if it is null. `proof` is the hash with which the person's
   * password was checked. Throws ResourceFault `sign_in_failed` if the person may not enter, or has another password by
   * now.
   */
  open(userId: string, organizationId: string | null, browser: Browser, proof?: string): Promise<OpenedSession>
}

/** Wrong setup codes count for this account name, because no e-mail address has this form. */
const setupAccount = 'setup'

export function createSignIn(deps: SignInDeps): SignIn {
  const { people, sessions, hashes, lockOut, clock, sessionS } = deps
  const now = () => new Date(clock.nowMs())
  const noteFailure = createFailureNotes(deps)

  async function prove(email: string, password: string, browser: Browser): Promise<KnownPerson> {
    const address = email.toLowerCase()
    return lockOut.attempt(address, browser.ip, async () => {
      // The first use makes the dummy hash, which takes time. So it is also made for a known e-mail address, and both
      // kinds of addresses take equally long.
      const dummy = await hashes.dummy()
      const person = await people.find(address)
      const stored = person?.passwordHash ?? dummy
      const text = spelled(password)
      const isRight = await hashes.verify(stored, text ?? '', browser.ip)
      // Guesses at unknown e-mail addresses are not noted, because they could fill the queue of notes about known
      // people.
      if (person === null) return null
      if (person.passwordHash === null || text === null || !isRight) return noteFailure(address, browser)
      return (await hashes.isOutdated(stored)) ? rehashed(deps, person, text, stored, browser) : person
    })
  }

  function newSession(userId: string, organizationId: string | null, browser: Browser) {
    const signedInAt = now()
    const expiresAt = new Date(signedInAt.getTime() + sessionS * 1000)
    return { userId, organizationId, method: 'password', browser, signedInAt, expiresAt }
  }

  async function open(userId: string, organizationId: string | null, browser: Browser, proof?: string) {
    return opened(await sessions.open(newSession(userId, organizationId, browser), proof))
  }

  return {
    prove,
    open,
    isSetUp: async () => !(await people.isEmpty()),
    async setUp({ email, name, password, code, isLocal }, browser) {
      if (!(await people.isEmpty())) throw new ResourceFault({ kind: 'setup_done' })
      const address = email.toLowerCase()
      const text = checkedPassword(password, address)
      if (!isLocal)
        await lockOut.attempt(setupAccount, browser.ip, () => Promise.resolve(deps.isSetupCode(code) || null))
      const person = await people.setUp({ email: address, name, passwordHash: await hashes.hash(text, browser.ip) })
      if (person === null) throw new ResourceFault({ kind: 'setup_done' })
      return open(person.id, null, browser)
    },
    async signIn({ email, password, organizationId }, browser) {
      const { id, passwordHash } = await prove(email, password, browser)
      return open(id, organizationId, browser, passwordHash ?? '')
    },
    async chooseOrganization(session, organizationId, browser) {
      const { user, method, signedInAt, expiresAt } = session
      const next = { userId: user.id, organizationId, method, browser, signedInAt, expiresAt }
      const moved = await sessions.move(session.id, next)
      if (moved === null) throw new ResourceFault({ kind: 'not_found' })
      return moved
    },
    async changePassword({ user, organization }, { current, password }, browser) {
      const text = checkedPassword(password, user.email)
      const { passwordHash } = await prove(user.email, current, browser)
      const next = await hashes.hash(text, browser.ip)
      const change = { userId: user.id, organizationId: organization.id, passwordHash: next, browser }
      if (!(await people.changePassword({ ...change, replaces: passwordHash ?? '' })))
        throw new ResourceFault({ kind: 'sign_in_failed' })
      return open(user.id, organization.id, browser, next)
    },
    async endSession({ user }, id, browser) {
      if (!(await sessions.end(user.id, id, browser))) throw new ResourceFault({ kind: 'not_found' })
    },
    listSessions: async ({ id, user }) =>
      (await sessions.list(user.id)).map((each) => ({ ...each, current: each.id === id })),
  }
}

/** If this many failures wait to be noted in the audit log, further failures are not noted. */
const pendingFailuresMax = 100

/** Stores a newer hash of the right password. If the hash cannot be made now, a later sign-in makes one. */
async function rehashed(
  { hashes, people, log }: Pick<SignInDeps, 'hashes' | 'people' | 'log'>,
  person: KnownPerson,
  text: string,
  stored: string,
  { ip }: Browser,
): Promise<KnownPerson> {
  const passwordHash = await hashes.hashUnlessBusy(text, ip).catch((err: unknown) => {
    log.warn({ err, userId: person.id }, 'a newer hash of a password could not be made at a sign-in')
    return null
  })
  if (passwordHash === null) return person
  await people.rehash(person.id, passwordHash, stored)
  return { ...person, passwordHash }
}

/**
 * Notes failures later and one after another. So the time to answer does not depend on the address, and two failures of
 * a person are counted in one row.
 */
function createFailureNotes({ failures, log }: Pick<SignInDeps, 'failures' | 'log'>) {
  let pending = 0
  let last = Promise.resolve()
  return (address: string, browser: Browser): null => {
    if (pending >= pendingFailuresMax) return null
    pending += 1
    last = last
      .then(() => failures.note(address, browser))
      .catch((err: unknown) => log.error({ err }, 'a failed sign-in was not noted in the audit log'))
      .finally(() => (pending -= 1))
    return null
  }
}

/** A person without a role in an enabled organization gets the same answer as after a wrong password. */
function opened(session: OpenedSession | null): OpenedSession {
  if (session === null) throw new ResourceFault({ kind: 'sign_in_failed' })
  return session
}
