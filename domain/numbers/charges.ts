/**
 * The monthly charges of numbers. A number that cannot be paid is overdue, and after seven days suspended, until a charge is
 * paid. It is never given back by itself:
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
   * The numbers of all organizations whose charge is due, oldest first: those that have not been tried, those that the credit
   * covers by now, and those that have been overdue since `suspendMs` and are not suspended.
   */
  due(limit: number, suspendMs: number): Promise<DueNumber[]>
  /**
   * Takes a month from the credit if it covers that, and stores what `change` makes of the number, in one transaction. Skips
   * a number that is not due any more, or that another process charges at this moment.
   */
  charge(number: DueNumber, change: (number: PhoneNumber, isPaid: boolean) => PhoneNumber): Promise<void>
}

export const chargeEveryMs = 30_000
/** The charges of one run. */
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

/** The months of a suspension are not charged. A month that no server was there for is. */
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
