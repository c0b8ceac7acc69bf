/** The operations on the organization's credit and its movements. */
import type {
  CreditAccount,
  CreditAccounts,
  CreditMovement as Movement,
  MovementPosition,
} from '../../domain/billing/credit-account.ts'
import type { KeyBudgets, KeySpending as Spending } from '../../domain/billing/key-spending.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { CreditMovement, Credits, KeySpending } from '../../generated/platform/types.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'

/** The cursors' times are in milliseconds. */
const cursors: CursorShape = { digitsMax: 13, id: /^credit_[0-9A-Za-z_-]{1,40}$/ }

export function getCredits(
  accounts: CreditAccounts,
  keyBudgets: Pick<KeyBudgets, 'read'>,
): PlatformHandlers<Caller>['getCredits'] {
  return async ({ query }, { caller }) => {
    const body = await readCredits(accounts, keyBudgets, caller.organization.id, query)
    return { status: 200, body: required(body) }
  }
}

type PageQuery = { limit: number; cursor?: string }

/** Reads a page of credit movements for a live key's organization. Throws a Refusal for an unreadable cursor. */
export async function pageOf(accounts: CreditAccounts, organizationId: string, { limit, cursor }: PageQuery) {
  const account = required(await accounts.read(organizationId, limit, positionOf(cursor)))
  return { ...account, nextCursor: nextCursorOf(account) }
}

/**
 * Throws if the value is null. This would be a defect: the organization's key was just checked, and organizations are
 * not deleted.
 */
export function required<T>(value: T | null): T {
  if (value === null) throw new Error('the organization of a live key is not stored')
  return value
}

function positionOf(cursor: string | undefined): MovementPosition | null {
  if (cursor === undefined) return null
  const { at, id } = readCursor(cursor, cursors)
  return { createdAtMs: at, id }
}

const nextCursorOf = ({ next }: CreditAccount) => next && cursorOf({ at: next.createdAtMs, id: next.id })

/**
 * Reads the credit and a page of credit movements. Null if the organization does not exist. Throws a Refusal for an
 * unreadable cursor.
 */
export async function readCredits(
  accounts: CreditAccounts,
  keyBudgets: Pick<KeyBudgets, 'read'>,
  organizationId: string,
  { limit, cursor }: PageQuery,
): Promise<Credits | null> {
  const account = await accounts.read(organizationId, limit, positionOf(cursor))
  if (account === null) return null
  const { creditMicroUsd, reservedMicroUsd, movements } = account
  return {
    creditMicroUsd: String(creditMicroUsd),
    reservedMicroUsd: String(reservedMicroUsd),
    movements: movements.map(wireMovement),
    nextCursor: nextCursorOf(account),
    budgets: (await keyBudgets.read(organizationId)).map(wireSpending),
  }
}

function wireMovement({ microUsd, createdAtMs, updatedAtMs, ...movement }: Movement): CreditMovement {
  const { id, kind, phoneNumberId, day } = movement
  const times = { createdAt: new Date(createdAtMs).toISOString(), updatedAt: new Date(updatedAtMs).toISOString() }
  return { id, kind, microUsd: String(microUsd), phoneNumberId, day, ...times }
}

export function wireSpending({ keyId, name, budget, warnedAtMs, exhaustedAtMs, ...sums }: Spending): KeySpending {
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
