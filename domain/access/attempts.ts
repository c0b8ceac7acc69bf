/** Counts attempts and limits them, over all processes: sign-ins, mails, tool trials, SIP and provider checks. */
import type { Clock } from '../ports/system.ts'
import { ResourceFault, type TrialSubject } from '../records/resource-fault.ts'

/** The counted attempts for one subject. Times are in milliseconds since the epoch. */
export type Attempts = { failures: number; firstMs: number; lastMs: number; blockedUntilMs: number }

/** Counts one more attempt at the time `nowMs`. If no attempt is remembered, `before` is null. */
export type Count = (before: Attempts | null, nowMs: number) => Attempts

/** A person, an address or an organization whose attempts are counted. The text is the key in the store. */
export type Subject = { text: string; count: Count }

export type AttemptStore = {
  /**
   * Counts an attempt for all subjects, unless one of them is blocked. Then it resolves with the time until which that
   * subject is blocked.
   */
  admit(subjects: readonly Subject[], nowMs: number): Promise<number | null>
  /** Forgets the account's attempts, and subtracts one attempt from the counts of the other subjects. */
  succeed(account: Subject, others: readonly Subject[]): Promise<void>
  /** Subtracts one attempt from all subjects' counts, because the attempt's password or code was not checked. */
  refund(subjects: readonly Subject[]): Promise<void>
}

/** Allows `most` attempts in a time window. The window begins with the first attempt. */
export function inWindow({ most, ms }: { most: number; ms: number }): Count {
  return (before, nowMs) => {
    const { failures, firstMs } =
      before === null || nowMs - before.firstMs >= ms ? { failures: 0, firstMs: nowMs } : before
    const blockedUntilMs = failures + 1 < most ? firstMs : firstMs + ms
    return { failures: failures + 1, firstMs, lastMs: nowMs, blockedUntilMs }
  }
}

export type TrialDeps = { attempts: Pick<AttemptStore, 'admit'>; clock: Clock }

/** An organization's limit for each subject, fixed in the contract. */
const countTrial = inWindow({ most: 30, ms: 60_000 })
/**
 * The subjects' keys in the store. Processes with another version of the server use the same keys, so the keys must not
 * change.
 */
const trialKeys: Readonly<Record<TrialSubject, string>> = {
  tool: 'trial',
  sip_connection: 'sip_check',
  provider: 'provider_check',
}

/**
 * Counts an organization's trial (a tool trial, a SIP check or a provider check). The first two send requests to a host
 * that the organization chooses; a provider check may use the operator's credential. Throws ResourceFault
 * `too_many_trials`.
 */
export async function admitTrial(deps: TrialDeps, subject: TrialSubject, organizationId: string): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const counted = { text: `${trialKeys[subject]} ${organizationId}`, count: countTrial }
  const blockedUntilMs = await deps.attempts.admit([counted], nowMs)
  if (blockedUntilMs === null) return
  const retryAfterS = Math.ceil((blockedUntilMs - nowMs) / 1000)
  throw new ResourceFault({ kind: 'too_many_trials', subject, retryAfterS })
}
