/** The credit of the organization and its movements. */
import type { Caller } from '../../domain/access/organization.ts'
import type { CreditAccounts, CreditMovement as Movement } from '../../domain/billing/credit-account.ts'
import type { KeyBudgets, KeySpending as Spending } from '../../domain/billing/key-spending.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { CreditMovement, KeySpending } from '../../generated/platform/types.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'

/** In milliseconds. */
const cursors: CursorShape = { digitsMax: 13, id: /^credit_[0-9A-Za-z_-]{1,40}$/ }

export function getCredits(
  accounts: CreditAccounts,
  keyBudgets: Pick<KeyBudgets, 'read'>,
): PlatformHandlers<Caller>['getCredits'] {
  return async ({ query: { limit, cursor } }, { caller }) => {
    const position = cursor === undefined ? null : readCursor(cursor, cursors)
    const after = position && { createdAtMs: position.at, id: position.id }
    const account = await accounts.read(caller.organization.id, limit, after)
    // Its key was just checked, and organizations are not deleted.
    if (account === null) throw new Error('the organization of a live key is not stored')
    const { creditMicroUsd, reservedMicroUsd, movements, next } = account
    const body = {
      creditMicroUsd: String(creditMicroUsd),
      reservedMicroUsd: String(reservedMicroUsd),
      movements: movements.map(wireMovement),
      nextCursor: next && cursorOf({ at: next.createdAtMs, id: next.id }),
      budgets: (await keyBudgets.read(caller.organization.id)).map(wireSpending),
    }
    return { status: 200, body }
  }
}

function wireMovement({ microUsd, createdAtMs, updatedAtMs, ...movement }: Movement): CreditMovement {
  const { id, kind, phoneNumberId, day } = movement
  const times = { createdAt: new Date(createdAtMs).toISOString(), updatedAt: new Date(updatedAtMs).toISOString() }
  return { id, kind, microUsd: String(microUsd), phoneNumberId, day, ...times }
}

function wireSpending({ keyId, name, budget, warnedAtMs, exhaustedAtMs, ...sums }: Spending): KeySpending {
  return {
    keyId,
    name,
    microUsd: String(budget.microUsd),
    period: budget.period,
    current: sums.period,
    spentMicroUsd: String(sums.spentMicroUsd),
    reservedMicroUsd: String(sums.reservedMicroUsd),
    warnedAt: timeOf(warnedAtMs),
    exhaustedAt: timeOf(exhaustedAtMs),
  }
}

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
