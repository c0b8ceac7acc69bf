/** The credit of the organization and its movements. */
import type { Caller } from '../../domain/access/organization.ts'
import type { CreditAccounts, CreditMovement as Movement } from '../../domain/billing/credit-account.ts'
import type { KeyBudgets, KeySpending as Spending } from '../../domain/billing/key-spending.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { CreditMovement, Credits, KeySpending } from '../../generated/platform/types.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'

/** In milliseconds. */
const cursors: CursorShape = { digitsMax: 13, id: /^credit_[0-9A-Za-z_-]{1,40}$/ }

export function getCredits(
  accounts: CreditAccounts,
  keyBudgets: Pick<KeyBudgets, 'read'>,
): PlatformHandlers<Caller>['getCredits'] {
  return async ({ query }, { caller }) => {
    const body = await readCredits(accounts, keyBudgets, caller.organization.id, query)
    // Its key was just checked, and organizations are not deleted.
    if (body === null) throw new Error('the organization of a live key is not stored')
    return { status: 200, body }
  }
}

/** Null: there is no such organization. Throws a Refusal for a cursor that cannot be read. */
export async function readCredits(
  accounts: CreditAccounts,
  keyBudgets: Pick<KeyBudgets, 'read'>,
  organizationId: string,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<Credits | null> {
  const position = cursor === undefined ? null : readCursor(cursor, cursors)
  const after = position && { createdAtMs: position.at, id: position.id }
  const account = await accounts.read(organizationId, limit, after)
  if (account === null) return null
  const { creditMicroUsd, reservedMicroUsd, movements, next } = account
  return {
    creditMicroUsd: String(creditMicroUsd),
    reservedMicroUsd: String(reservedMicroUsd),
    movements: movements.map(wireMovement),
    nextCursor: next && cursorOf({ at: next.createdAtMs, id: next.id }),
    budgets: (await keyBudgets.read(organizationId)).map(wireSpending),
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
