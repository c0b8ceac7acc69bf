/**
 * Slows down guesses of passwords. Each attempt is counted before its password is hashed, so parallel guesses cannot
 * all begin before the first is counted. If the proof is right, or was not checked, the attempt is subtracted again.
 */
import { ResourceFault } from '../../records/resource-fault.ts'
import { type AttemptStore, type Attempts, type Count, inWindow, type Subject } from '../attempts.ts'
import type { Signer } from '../signer.ts'

const freeFailures = 5
const firstWaitMs = 1000
const waitMsMax = 15 * 60_000
const accountMemoryMs = 24 * 3_600_000

/**
 * `account`: an e-mail address, also an unknown one, so that known and unknown addresses get the same answers.
 * `source`: a network address. `mail`: an e-mail address that mails are sent to.
 */
const counts = {
  account: countOfAccount,
  source: inWindow({ most: 30, ms: 10 * 60_000 }),
  mail: inWindow({ most: 3, ms: 3_600_000 }),
} satisfies Record<string, Count>

export type LockOut = {
  /**
   * Runs `check` if the account and the source may try now. `check` resolves with null if the password or code is
   * wrong. Throws ResourceFault `attempts_blocked`, or `sign_in_failed` after a wrong password or code. If `check`
   * throws, the attempt is not counted.
   */
  attempt<Proved>(account: string, source: string, check: () => Promise<Proved | null>): Promise<Proved>
  /** Forgets the account's failures, after a new password. */
  forgive(account: string): Promise<void>
  /** Counts a mail. Resolves with false if the address has had its mails for this hour. */
  mayMail(address: string): Promise<boolean>
}

export function createLockOut(store: AttemptStore, { sign }: Signer, clock: { nowMs(): number }): LockOut {
  // The text is an HMAC, because the table must not be a list of people.
  const subject = (kind: keyof typeof counts, name: string): Subject => {
    return { text: sign(`${kind}\n${name}`), count: counts[kind] }
  }
  return {
    forgive: (account) => store.succeed(subject('account', account), []),
    mayMail: async (address) => (await store.admit([subject('mail', address)], clock.nowMs())) === null,
    async attempt(account, source, check) {
      const [person, place] = [subject('account', account), subject('source', source)]
      const nowMs = clock.nowMs()
      const blockedUntilMs = await store.admit([person, place], nowMs)
      if (blockedUntilMs !== null)
        throw new ResourceFault({ kind: 'attempts_blocked', waitS: Math.ceil((blockedUntilMs - nowMs) / 1000) })
      const proved = await check().catch(async (error: unknown) => {
        // The client gets the first error, for example a full queue for hashes.
        await store.refund([person, place]).catch(() => {})
        throw error
      })
      if (proved === null) throw new ResourceFault({ kind: 'sign_in_failed' })
      await store.succeed(person, [place])
      return proved
    },
  }
}

function countOfAccount(before: Attempts | null, nowMs: number): Attempts {
  const { failures, firstMs } =
    before === null || nowMs - before.lastMs >= accountMemoryMs ? { failures: 0, firstMs: nowMs } : before
  return { failures: failures + 1, firstMs, lastMs: nowMs, blockedUntilMs: nowMs + waitAfter(failures + 1) }
}

/**
 * Returns the wait after this number of failures: 1 s after the fifth failure, and then twice as long after each
 * further failure.
 */
function waitAfter(failures: number): number {
  if (failures < freeFailures) return 0
  return Math.min(firstWaitMs * 2 ** (failures - freeFailures), waitMsMax)
}
