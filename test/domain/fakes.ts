import { createLocalLimits } from '../../domain/access/local-limits.ts'
import type { CreditRefusal } from '../../domain/billing/budget.ts'
import type { Credit, Ledger, Settlement } from '../../domain/billing/ledger.ts'
import { Catalog } from '../../domain/catalog/catalog.ts'
import type { DispatchDeps, RequestContext } from '../../domain/dispatch/request.ts'
import { Health, type HealthLimits } from '../../domain/health/health.ts'
import type { Idempotency, KeyAdmission, KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { Llm, LlmEvent } from '../../domain/ports/llm.ts'
import { type Model, noCapabilities, type Stage } from '../../domain/ports/model.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import type { Stt } from '../../domain/ports/stt.ts'
import type { Tts } from '../../domain/ports/tts.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Caller, KeyPolicy } from '../../domain/records/organization.ts'
import { Chooser } from '../../domain/routing/chooser.ts'
import { TestClock } from '../clock.ts'

export const healthLimits: HealthLimits = {
  model: { failuresMax: 3, openMs: 5000, openMaxMs: 60_000, retryAfterMaxMs: 60_000 },
  credential: { failuresMax: 1, openMs: 60_000, openMaxMs: 600_000, retryAfterMaxMs: 600_000 },
}

export function model(stage: Stage, over: Partial<Model> = {}): Model {
  return {
    provider: 'p',
    id: 'm',
    stage,
    capabilities: { ...noCapabilities, batch: true, streaming: true },
    languages: ['*'],
    audioFormats: [],
    voices: [],
    providerOptions: [],
    benchmarks: [],
    prices: [],
    lastResort: false,
    ...over,
  }
}

type Adapters = { stt?: Stt; tts?: Tts; llm?: Llm }

export function provider(
  id: string,
  models: Model[],
  { llm, ...speech }: Adapters = {},
): Provider & { reason: string | null } {
  const self = {
    id,
    models: models.map((each) => ({ ...each, provider: id })),
    reason: null as string | null,
    unavailable: () => self.reason,
    close: () => Promise.resolve(),
    ports: { speech, ...(llm && { llm }) },
  }
  return self
}

export function caller(policy: KeyPolicy = {}, over: Partial<Caller> = {}): Caller {
  const organization = { id: 'org_1', name: 'one', maxConcurrency: null, ownKeys: {}, isDisabled: false }
  return { organization, keyId: 'key_1', scopes: ['router'], test: false, policy, ...over }
}

/** Implements the store of idempotency keys in memory, with the key states of the contract. */
export class MemoryKeys implements Idempotency {
  readonly states = new Map<string, { use: KeyUse; state: string }>()
  admission: KeyAdmission | null = null
  leaseLost = false

  admit(use: KeyUse, as: 'admitted' | 'dispatched' = 'admitted'): Promise<KeyAdmission> {
    const held = this.states.get(use.keyDigest)
    if (this.admission) return Promise.resolve(this.admission)
    if (!held) {
      this.states.set(use.keyDigest, { use, state: as })
      return Promise.resolve({ outcome: 'admitted' })
    }
    const originalRequestId = held.use.requestId
    if (held.use.contentHash !== use.contentHash) return Promise.resolve({ outcome: 'conflict', originalRequestId })
    if (held.state === 'admitted') return Promise.resolve({ outcome: 'in_progress', retryAfterS: 1 })
    return Promise.resolve({ outcome: 'already_started', originalRequestId })
  }

  dispatch(use: KeyUse): Promise<boolean> {
    if (this.leaseLost) return Promise.resolve(false)
    this.states.set(use.keyDigest, { use, state: 'dispatched' })
    return Promise.resolve(true)
  }

  release(use: KeyUse): Promise<void> {
    this.states.delete(use.keyDigest)
    return Promise.resolve()
  }

  get state(): string | undefined {
    return this.states.get(key.keyDigest)?.state
  }
}

export class MemoryLedger implements Ledger {
  readonly settlements: Settlement[] = []
  readonly #keys: MemoryKeys
  isFull = false

  constructor(keys: MemoryKeys) {
    this.#keys = keys
  }

  hasRoom(): boolean {
    return !this.isFull
  }

  settle(settlement: Settlement): void {
    this.settlements.push(settlement)
    const { use, status } = settlement
    if (use) this.#keys.states.set(use.keyDigest, { use, state: status })
  }

  get last(): Settlement {
    const last = this.settlements.at(-1)
    if (!last) throw new Error('nothing was settled')
    return last
  }
}

export class MemoryCredit implements Credit {
  balance = 1_000_000
  reserved = 0

  refusal(): Promise<CreditRefusal | null> {
    return Promise.resolve(this.balance > 0 ? null : 'credit')
  }

  reserve(_organizationId: string, _requestId: string, microUsd: number): Promise<CreditRefusal | null> {
    if (microUsd > this.balance) return Promise.resolve('credit')
    this.balance -= microUsd
    this.reserved += microUsd
    return Promise.resolve(null)
  }

  cancel(_organizationId: string, _requestId: string, microUsd: number): Promise<void> {
    this.balance += microUsd
    this.reserved -= microUsd
    return Promise.resolve()
  }
}

export const key = { keyDigest: 'digest', contentHash: 'hash' }

/** Makes the dependencies for the domain's operations, in memory. */
export function bench(providers: Provider[], testProviders: string[] = []) {
  const clock = new TestClock()
  const health = new Health(clock, healthLimits)
  const catalog = new Catalog(providers)
  const chooser = new Chooser({ catalog, health, testProviders: new Set(testProviders) })
  const idempotency = new MemoryKeys()
  const ledger = new MemoryLedger(idempotency)
  const credit = new MemoryCredit()
  const attempts: string[] = []
  const logs: { level: string; message: string; fields: object }[] = []
  const log = (level: string) => (fields: object, message: string) => void logs.push({ level, message, fields })
  const held = { leases: 0, ended: 0 }
  const local = createLocalLimits()
  let ids = 0
  const limits = { attemptsMax: 3, firstByteMs: 1000, answerMs: 3000, idleMs: 2000, totalMs: 10_000 }
  const deps: DispatchDeps = {
    clock,
    ids: { request: () => `req_${++ids}`, attempt: () => `att_${++ids}` },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    metrics: {
      attempt: (_s, p, m, outcome) => void attempts.push(`${p}/${m} ${outcome}`),
      firstByte: () => {},
      usage: () => {},
      creditRefusal: () => {},
      failover: () => {},
    },
    health,
    providerKeys: { open: () => null },
    chooser,
    concurrency: {
      acquire(organizationId, keyId, most, kind) {
        const lease = local.acquire(organizationId, keyId, most, kind)
        if (typeof lease === 'string') return lease
        held.leases += 1
        return () => {
          held.leases -= 1
          held.ended += 1
          lease()
        }
      },
    },
    idempotency,
    credit,
    ledger,
    limits: { stt: limits, tts: limits, llm: limits },
  }
  return { deps, clock, health, catalog, chooser, idempotency, ledger, credit, attempts, logs, held }
}

export function order(over: Partial<RequestContext> = {}): RequestContext {
  return {
    caller: caller(),
    requestId: 'req_0',
    operation: 'createResponse',
    key,
    signal: new AbortController().signal,
    ...over,
  }
}

export function failure(errorClass: ErrorClass, sent = true, retryAfterS?: number): ProviderError {
  return new ProviderError(errorClass, { sent, ...(retryAfterS !== undefined && { retryAfterS }) })
}

export async function fault(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('expected a fault')
}

export function thrownFault(run: () => unknown): Fault {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('expected a fault')
}

export async function collect<T>(items: AsyncIterable<T>): Promise<{ items: T[]; error: unknown }> {
  const seen: T[] = []
  try {
    for await (const item of items) seen.push(item)
    return { items: seen, error: null }
  } catch (error) {
    return { items: seen, error }
  }
}

export const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 0 }
export const theEnd: LlmEvent = { type: 'end', stopReason: 'stop', usage }

/** Returns a promise that never settles, like an adapter that ignores its signal. */
export function hang<T>(): Promise<T> {
  return new Promise<T>(() => {})
}

/** Yields the items. Throws a ProviderError from the list, and waits for ever at `hang`. */
export async function* script<T>(items: readonly (T | Error | 'hang')[]): AsyncGenerator<T> {
  for (const item of items) {
    if (item === 'hang') await hang()
    else if (item instanceof Error) throw item
    else yield item
  }
}
