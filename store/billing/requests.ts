/** Makes the store's repositories for requests: idempotency keys, reservations, ledger rows and routing choices. */

import type { CreditAccounts } from '../../domain/billing/credit-account.ts'
import type { BudgetEvents, KeyBudgets } from '../../domain/billing/key-spending.ts'
import type { RequestRoutes } from '../../domain/billing/request-route.ts'
import type { Usage } from '../../domain/billing/usage.ts'
import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { StoredAnswers } from '../../domain/idempotency/stored-answers.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Loop } from '../../runtime/timing/loops.ts'
import type { Pools } from '../postgres/connect.ts'
import { transactionEach } from '../postgres/tenant.ts'
import { createChoices } from './choices.ts'
import { createCredit, type StoredCredit } from './credit.ts'
import { createCreditAccounts } from './credit-movements.ts'
import { createIdempotency, type IdempotencyLimits, type StoredIdempotency } from './idempotency.ts'
import { createBudgetEvents, createKeyBudgets } from './key-budgets.ts'
import { createLedger, type StoredLedger } from './ledger.ts'
import { createRequestRoutes } from './request-routes.ts'
import { createStoredAnswers } from './stored-answers.ts'
import { createUsage } from './usage.ts'

export type RequestOptions = {
  clock: Clock
  log: Log
  idempotency: IdempotencyLimits
  /** A routing choice is deleted when no request has used it for this long. */
  choiceRetentionMs: number
  dataDir: string
  /** The maximum number of bytes of settlements on the local disk while the database is unreachable. */
  journalBytesMax: number
}

export type Requests = {
  idempotency: StoredIdempotency
  ledger: StoredLedger
  credit: StoredCredit
  creditAccounts: CreditAccounts
  keyBudgets: KeyBudgets
  budgetEvents: Pick<BudgetEvents, 'reported'>
  usage: Usage
  requestRoutes: RequestRoutes
  storedAnswers: StoredAnswers
}

export type RequestParts = {
  requests: Requests
  loops: readonly Loop[]
  /** Resolves when all pending rows are written. */
  drain(): Promise<unknown>
}

const sweepEveryMs = 60_000
const budgetEventsMs = 5_000
/**
 * The interval for moving settlements (the requests' final writes) from the local disk to the database. An outage's end
 * also starts a move, but a full database disk is not reported as an outage.
 */
const replayEveryMs = 1_000

export function createRequests({ system, tenant }: Pools, instanceId: string, options: RequestOptions): RequestParts {
  const { clock, log } = options
  const { leaseMs } = options.idempotency
  const idempotency = createIdempotency(system, clock, options.idempotency)
  const choices = createChoices(system, clock, options.choiceRetentionMs)
  const { ledger, replay, adopt } = createLedger({
    ...options,
    ...{ sql: system, choices, instanceId, restoreKeys: (uses) => idempotency.restore(uses) },
  })
  const credit = createCredit(system, clock, instanceId)
  const creditAccounts = createCreditAccounts(transactionEach(tenant))
  const keyBudgets = createKeyBudgets(transactionEach(tenant), clock)
  const budgetEvents = createBudgetEvents(system, clock, (event) => {
    log.warn(event, event.event === 'warned' ? 'a key has spent 80 % of its budget' : 'a key has no budget left')
  })
  const usage = createUsage(transactionEach(tenant))
  const requestRoutes = createRequestRoutes(transactionEach(tenant))
  const restoreKey = (use: KeyUse) => idempotency.restore([use])
  const storedAnswers = createStoredAnswers(system, clock, { leaseMs, restoreKey })
  const loops: Loop[] = [
    { name: 'leases of idempotency keys', everyMs: leaseMs / 4, run: () => idempotency.renew() },
    { name: 'answers to requests with idempotency keys', everyMs: leaseMs / 4, run: () => storedAnswers.renew() },
    { name: 'reservations of dead instances', everyMs: leaseMs, run: () => credit.sweep() },
    { name: 'expired idempotency keys', everyMs: sweepEveryMs, run: () => idempotency.reap() },
    { name: 'events of budgets', everyMs: budgetEventsMs, run: () => budgetEvents.report() },
    { name: 'old periods of budgets', everyMs: sweepEveryMs, run: () => budgetEvents.reap() },
    { name: 'settlements on disk', everyMs: replayEveryMs, run: replay },
    { name: 'settlements of dead instances', everyMs: leaseMs, run: adopt },
    { name: 'old choices', everyMs: sweepEveryMs, run: () => choices.reap() },
  ]
  const drain = () => Promise.all([idempotency.drain(), ledger.drain(), credit.drain()])
  const accounts = { credit, creditAccounts, keyBudgets, budgetEvents, usage }
  return { requests: { idempotency, ledger, ...accounts, requestRoutes, storedAnswers }, loops, drain }
}
