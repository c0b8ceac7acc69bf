/** The operations on credit for published clients: a balance in US dollars, and movements by their kinds. */
import type { CreditAccounts, CreditMovement } from '../../domain/billing/credit-account.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { CreditLedgerEntry } from '../../generated/platform/types.ts'
import { pageOf, required } from './credits.ts'
import { usdOf } from './money.ts'
import { timeOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function getCreditBalance(accounts: CreditAccounts): Handlers['getCreditBalance'] {
  return async (_request, { caller }) => {
    const { creditMicroUsd, changedAtMs } = required(await accounts.balance(caller.organization.id))
    return {
      status: 200,
      body: { balanceUsd: usdOf(creditMicroUsd), currency: 'USD', updatedAt: timeOf(changedAtMs) },
    }
  }
}

export function getCreditLedger(accounts: CreditAccounts): Handlers['getCreditLedger'] {
  return async ({ query }, { caller }) => {
    const { movements, nextCursor } = await pageOf(accounts, caller.organization.id, query)
    return { status: 200, body: { entries: movements.map(entryOf), nextCursor } }
  }
}

function entryOf({ id, kind, microUsd, createdAtMs }: CreditMovement): CreditLedgerEntry {
  return {
    id,
    kind: kindOf(kind, microUsd),
    amountMicroUsd: String(microUsd),
    metric: kind === 'requests' || kind === 'calls' || kind === 'phone_number' ? kind : null,
    ...{ provider: null, sessionId: null },
    createdAt: timeOf(createdAtMs),
  }
}

function kindOf(kind: CreditMovement['kind'], microUsd: number): CreditLedgerEntry['kind'] {
  if (kind === 'opening') return 'grant'
  if (kind === 'operator') return microUsd > 0 ? 'topup' : 'adjustment'
  return microUsd > 0 ? 'refund' : 'debit'
}
