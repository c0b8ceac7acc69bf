/** Links for a new password. */
import type { Clock, Log } from '../../ports/system.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import { digestOf, linkTo, newToken } from './links.ts'
import type { LockOut } from './lock-out.ts'
import { checkedPassword, type PasswordHashes } from './passwords.ts'
import type { Person } from './people.ts'
import type { Post } from './post.ts'

export type ResetStore = {
  /**
   * Stores a link for the person with this address. Resolves with false if there is no such person, or the person has
   * `openMax` open links. Null: no limit.
   */
  insert(email: string, digest: Buffer, now: Date, expiresAt: Date, openMax: number | null): Promise<boolean>
  /** Finds the person behind a link that has not expired. */
  find(digest: Buffer, now: Date): Promise<Person | null>
  /**
   * Sets the password, ends the person's links, sessions and tokens. Resolves with false if the link has expired or was
   * used meanwhile.
   */
  use(digest: Buffer, passwordHash: string, now: Date): Promise<boolean>
}

export type ResetDeps = {
  resets: ResetStore
  hashes: PasswordHashes
  lockOut: Pick<LockOut, 'forgive'>
  post: Post
  clock: Pick<Clock, 'nowMs'>
  log: Pick<Log, 'error'>
  /** Returns this server's public address. */
  baseUrl: () => string
}

export type Resets = {
  /** Sends a link later, if the person exists. So the time to answer does not depend on the address. */
  forgot(email: string): void
  /** Throws ResourceFault `link_dead` or `invalid`. */
  reset(token: string, password: string): Promise<void>
}

export const resetLifeMs = 3_600_000
/** More requests at once send no link. */
const pendingMax = 100
/** The page makes at most this many open links for a person, because anybody may ask for one. */
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
    async reset(token, password) {
      const digest = digestOf(token)
      const person = await resets.find(digest, new Date(clock.nowMs()))
      if (person === null) throw new ResourceFault({ kind: 'link_dead' })
      const passwordHash = await hashes.hash(checkedPassword(password, person.email))
      if (!(await resets.use(digest, passwordHash, new Date(clock.nowMs()))))
        throw new ResourceFault({ kind: 'link_dead' })
      await lockOut.forgive(person.email)
      await post.passwordChanged(person.email)
    },
  }
}
