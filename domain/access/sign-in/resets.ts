/** Links with which a person sets a new password. */
import type { Clock, Log } from '../../ports/system.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import { digestOf, linkTo, newToken } from './links.ts'
import type { LockOut } from './lock-out.ts'
import { checkedPassword, type PasswordHashes } from './passwords.ts'
import type { Browser, Person } from './people.ts'
import type { Post } from './post.ts'

export type ResetStore = {
  /**
   * Stores a link for the person with this e-mail address. Resolves with false if there is no such person, or the
   * person has `openMax` open links. Null: no limit.
   */
  insert(email: string, digest: Buffer, now: Date, expiresAt: Date, openMax: number | null): Promise<boolean>
  /** Finds the person behind a link that has not expired. */
  find(digest: Buffer, now: Date): Promise<Person | null>
  /**
   * Sets the password, ends the person's links, sessions and tokens. Resolves with false if the link has expired or was
   * used meanwhile.
   */
  use(digest: Buffer, passwordHash: string, now: Date, browser: Browser): Promise<boolean>
}

export type ResetDeps = {
  resets: ResetStore
  hashes: PasswordHashes
  lockOut: Pick<LockOut, 'forgive'>
  post: Post
  clock: Pick<Clock, 'nowMs'>
  log: Pick<Log, 'error'>
  /** Returns this server's public URL. */
  baseUrl: () => string
}

export type Resets = {
  /**
   * Returns at once, and sends the link later if the person exists. So the response time does not show whether the
   * e-mail address is known.
   */
  forgot(email: string): void
  /** Throws ResourceFault `link_dead` or `invalid`. */
  reset(token: string, password: string, browser: Browser): Promise<void>
}

export const resetLifeMs = 3_600_000
/** While this many links wait to be sent, further requests send no link. */
const pendingMax = 100
/**
 * A person gets at most this many open links from the page, because anybody may ask for a link to the person's address.
 */
const openMax = 10

export function createResets({ resets, hashes, lockOut, post, clock, log, baseUrl }: ResetDeps): Resets {
  let pending = 0

  async function sendLink(email: string): Promise<void> {
    const { token, digest } = newToken()
    const now = new Date(clock.nowMs())
    const isStored = await resets.insert(email, digest, now, new Date(now.getTime() + resetLifeMs), openMax)
    if (isStored) await post.reset(email, linkTo(baseUrl(), 'reset', token))
  }

  return {
    forgot(email) {
      if (pending >= pendingMax) return
      pending += 1
      void sendLink(email.toLowerCase())
        .catch((err: unknown) => log.error({ err }, 'a link for a new password was not sent'))
        .finally(() => (pending -= 1))
    },
    async reset(token, password, browser) {
      const digest = digestOf(token)
      const person = await resets.find(digest, new Date(clock.nowMs()))
      if (person === null) throw new ResourceFault({ kind: 'link_dead' })
      const passwordHash = await hashes.hash(checkedPassword(password, person.email), browser.ip)
      if (!(await resets.use(digest, passwordHash, new Date(clock.nowMs()), browser)))
        throw new ResourceFault({ kind: 'link_dead' })
      await lockOut.forgive(person.email)
      await post.passwordChanged(person.email)
    },
  }
}
