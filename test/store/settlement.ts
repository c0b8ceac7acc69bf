/** Settlements as the domain hands them to the ledger. */
import type { LedgerAttempt, LedgerRow, Settlement } from '../../domain/billing/ledger.ts'
import { baseAsk } from '../../domain/routing/ask.ts'
import { Choice } from '../../domain/routing/choice.ts'
import type { Store } from '../../store/store.ts'
import { caller } from '../domain/fakes.ts'

/** Settles, and waits until the settlement is written. */
export function settled({ ledger }: Pick<Store, 'ledger'>, settlement: Settlement): Promise<void> {
  ledger.settle(settlement)
  return ledger.drain()
}

/**
 * Returns a routing choice. Two choices differ only in their language. Each call makes a new object, as another process
 * would.
 */
export function choiceIn(language: string): Choice {
  const ask = baseAsk(caller(), 'llm', { mode: 'auto', objective: 'balanced' }, language)
  return new Choice({
    ask,
    candidates: [],
    excluded: [],
    catalogDigest: `sha256:${'0'.repeat(64)}`,
    scale: null,
    isRegional: false,
  })
}

export function ledgerAttempt(attemptId: string, over: Partial<LedgerAttempt> = {}): LedgerAttempt {
  return {
    attemptId,
    provider: 'mock',
    model: 'mock-1',
    outcome: 'succeeded',
    startedAtMs: 1_790_000_000_123,
    durationMs: 12.5,
    firstByteMs: 3.25,
    quantities: [{ unit: 'output_tokens', amount: 7 }],
    costMicroUsd: 0,
    priceSource: 'a price list, 2026-10-01',
    keySource: 'platform',
    ...over,
  }
}

export function ledgerRow(organizationId: string, requestId: string, over: Partial<LedgerRow> = {}): LedgerRow {
  return {
    requestId,
    attemptId: 'att_1',
    organizationId,
    keyId: 'key_1',
    test: false,
    operation: 'createResponse',
    callId: null,
    stage: 'llm',
    provider: 'mock',
    model: 'mock-1',
    outcome: 'succeeded',
    startedAtMs: 1_790_000_000_123,
    durationMs: 12.5,
    firstByteMs: 3.25,
    quantities: [{ unit: 'output_tokens', amount: 7 }],
    costMicroUsd: 0,
    attempts: [ledgerAttempt('att_1')],
    ...over,
  }
}
