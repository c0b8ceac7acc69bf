/** The credit as published clients read it: a balance in US dollars, and movements by their kinds. */
import type { Caller } from '../../domain/access/organization.ts'
import type { CreditAccounts, CreditMovement } from '../../domain/billing/credit-account.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { CreditLedgerEntry } from '../../generated/platform/types.ts'
import { pageOf } from './credits.ts'
import { usdOf } from './money.ts'
import { timeOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export type BalanceDeps = {
  creditAccounts: CreditAccounts
  /** The time at which an organization was made. */
  createdAtOf: (organizationId: string) => Promise<Date | null>
}

/** A day of requests changes until it is over, and can stand behind newer movements. */
const lookedAt = 25

export function getCreditBalance({ creditAccounts, createdAtOf }: BalanceDeps): Handlers['getCreditBalance'] {
  return async (_request, { caller }) => {
    const { id } = caller.organization
    const { creditMicroUsd, movements } = await pageOf(creditAccounts, id, { limit: lookedAt })
    const changesMs = movements.map(({ updatedAtMs }) => updatedAtMs)
    const updatedAtMs = changesMs.length > 0 ? Math.max(...changesMs) : ((await createdAtOf(id))?.getTime() ?? 0)
    return {
      status: 200,
      body: { balanceUsd: usdOf(creditMicroUsd), currency: 'USD', updatedAt: timeOf(updatedAtMs) },
    }
  }
}

export function getCreditLedger({ creditAccounts }: BalanceDeps): Handlers['getCreditLedger'] {
  return async ({ query }, { caller }) => {
    const { movements, nextCursor } = await pageOf(creditAccounts, caller.organization.id, query)
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
