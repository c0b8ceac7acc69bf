/**
 * Slows down guesses of passwords. Each attempt is counted before its password is hashed, so parallel guesses do not
 * pass together. If the proof is right, or was not checked, the attempt is subtracted again.
 */
import { ResourceFault } from '../../records/resource-fault.ts'
import type { Signer } from '../signer.ts'

/** The counted attempts for one subject. Times are in milliseconds since the epoch. */
export type Attempts = { failures: number; firstMs: number; lastMs: number; blockedUntilMs: number }

/**
 * `account`: an e-mail address, also an unknown one, so that known and unknown addresses get the same answers.
 * `source`: a network address. `mail`: an address for mails. Their text is an HMAC, because the table must not be a
 * list of people. `trial`: an organization with trials of tools.
 */
export type Subject = { kind: 'account' | 'source' | 'mail' | 'trial'; text: string }

export type AttemptStore = {
  /**
   * Counts an attempt for all subjects, unless one of them is blocked. Then it resolves with the time until which that
   * subject is blocked.
   */
  admit(subjects: readonly Subject[], count: typeof counted, nowMs: number): Promise<number | null>
  /** Forgets the account's attempts, and subtracts one attempt from the source's count. */
  succeed(subjects: readonly Subject[]): Promise<void>
  /** Subtracts one attempt from all subjects' counts, because its proof was not checked. */
  refund(subjects: readonly Subject[]): Promise<void>
}

const freeFailures = 5
const firstWaitMs = 1000
const waitMsMax = 15 * 60_000
const accountMemoryMs = 24 * 3_600_000
/** The most attempts in a time window. The window begins with the first attempt. */
const windows = {
  source: { most: 30, ms: 10 * 60_000 },
  mail: { most: 3, ms: 3_600_000 },
  trial: { most: 30, ms: 60_000 },
} as const

/** Counts one more attempt at the time `nowMs`. If no attempt is remembered, `before` is null. */
export function counted(kind: Subject['kind'], before: Attempts | null, nowMs: number): Attempts {
  const isFresh = before === null || isForgotten(kind, before, nowMs)
  const failures = isFresh ? 1 : before.failures + 1
  const firstMs = isFresh ? nowMs : before.firstMs
  const blockedUntilMs = kind === 'account' ? nowMs + waitAfter(failures) : windowEnd(kind, failures, firstMs)
  return { failures, firstMs, lastMs: nowMs, blockedUntilMs }
}

function isForgotten(kind: Subject['kind'], { firstMs, lastMs }: Attempts, nowMs: number): boolean {
  return kind === 'account' ? nowMs - lastMs >= accountMemoryMs : nowMs - firstMs >= windows[kind].ms
}

/**
 * Returns the wait after this number of failures: 1 s after the fifth failure, and then twice as long after each
 * further failure.
 */
function waitAfter(failures: number): number {
  if (failures < freeFailures) return 0
  return Math.min(firstWaitMs * 2 ** (failures - freeFailures), waitMsMax)
}

function windowEnd(kind: keyof typeof windows, failures: number, firstMs: number): number {
  const { most, ms } = windows[kind]
  return failures < most ? firstMs : firstMs + ms
}

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
  const subject = (kind: Subject['kind'], name: string): Subject => ({ kind, text: sign(`${kind}\n${name}`) })
  return {
    forgive: (account) => store.succeed([subject('account', account)]),
    mayMail: async (address) => (await store.admit([subject('mail', address)], counted, clock.nowMs())) === null,
    async attempt(account, source, check) {
      const subjects = [subject('account', account), subject('source', source)]
      const nowMs = clock.nowMs()
      const blockedUntilMs = await store.admit(subjects, counted, nowMs)
      if (blockedUntilMs !== null)
        throw new ResourceFault({ kind: 'attempts_blocked', waitS: Math.ceil((blockedUntilMs - nowMs) / 1000) })
      const proved = await check().catch(async (error: unknown) => {
        // The client gets the first error, for example a full queue for hashes.
        await store.refund(subjects).catch(() => {})
        throw error
      })
      if (proved === null) throw new ResourceFault({ kind: 'sign_in_failed' })
      await store.succeed(subjects)
      return proved
    },
  }
}
