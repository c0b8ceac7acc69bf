/**
 * Charges monthly for numbers. If the credit does not cover a month, the number is overdue. After seven days it is
 * suspended until a charge is paid. The server never releases a number to the carrier automatically:
 *
 *   due ──► paid ──────────────────────────────► due a month later
 *    └────► overdue ──► suspended ──► paid ──► …
 */
import type { Clock, Log } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import { nextMonthlyMs } from './months.ts'

export type DueNumber = Tenant & { id: string }

export interface NumberChargeStore {
  /**
   * Finds numbers with a due charge in all organizations, oldest first. A number is included if its charge has not been
   * tried, if the credit now covers it, or if it must be suspended: it became overdue before `suspendMs` and is not
   * suspended yet.
   */
  due(limit: number, suspendMs: number): Promise<DueNumber[]>
  /**
   * In one transaction, debits a month's price if the credit covers it, and stores the number returned by `change`.
   * Skips a number that is no longer due, or that another process is charging.
   */
  charge(number: DueNumber, change: (number: PhoneNumber, isPaid: boolean) => PhoneNumber): Promise<void>
}

export const chargeEveryMs = 30_000
/** The maximum number of charges in one run. */
const dueMax = 500
const suspendedAfterMs = 7 * 86_400_000

export type ChargeDeps = { charges: NumberChargeStore; clock: Pick<Clock, 'nowMs'>; log: Log }

export function createCharges({ charges, clock, log }: ChargeDeps): () => Promise<void> {
  const change = (number: PhoneNumber, isPaid: boolean) =>
    isPaid ? paid(number, clock.nowMs()) : overdue(number, clock.nowMs())
  return async () => {
    for (const number of await charges.due(dueMax, clock.nowMs() - suspendedAfterMs))
      try {
        await charges.charge(number, change)
      } catch (err) {
        log.warn({ err, phoneNumberId: number.id }, 'the monthly charge of a phone number failed; it is tried again')
      }
  }
}

/**
 * Returns the number after a charge. Months during a suspension are not charged. Months during a server outage are
 * charged.
 */
function paid(number: PhoneNumber, nowMs: number): PhoneNumber {
  const dueMs = number.nextChargeAtMs ?? nowMs
  const untilMs = number.suspendedAtMs === null ? dueMs : Math.max(dueMs, nowMs)
  return {
    ...number,
    nextChargeAtMs: nextMonthlyMs(number.createdAtMs, untilMs),
    lastChargedAtMs: nowMs,
    overdueSinceMs: null,
    suspendedAtMs: null,
    updatedAtMs: nowMs,
  }
}

function overdue(number: PhoneNumber, nowMs: number): PhoneNumber {
  const overdueSinceMs = number.overdueSinceMs ?? nowMs
  const isLate = nowMs - overdueSinceMs >= suspendedAfterMs
  return {
    ...number,
    overdueSinceMs,
    suspendedAtMs: number.suspendedAtMs ?? (isLate ? nowMs : null),
    updatedAtMs: nowMs,
  }
}
