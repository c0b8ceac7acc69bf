import type { Objective, Stage } from '../ports/model.ts'
import type { Aliases } from './aliases.ts'

export const scopes = ['router', 'realtime', 'platform', 'rmsg', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** The settings of an API key. They fill in what a request leaves out and narrow what it may ask. */
export type KeyPolicy = {
  voice?: string
  /** Ordered pinned ids (`provider/model`) per stage. */
  chain?: Partial<Record<Stage, readonly string[]>>
  language?: string
  allowedOrigins?: readonly string[]
  allowProviders?: readonly string[]
  maxConcurrency?: number
  objective?: Objective
  aliases?: Aliases
  budget?: Budget
}

export const budgetPeriods = ['day', 'month', 'total'] as const

/** The most that a key may cost in a period: a UTC day, a UTC month, or since the budget was set. */
export type Budget = { microUsd: number; period: (typeof budgetPeriods)[number] }

export type Organization = {
  id: string
  name: string
  maxConcurrency: number | null
  ownKeys: OwnKeys
  /** The operator has disabled it: requests are refused. */
  isDisabled: boolean
}

/** Providers that an organization brought a key for: provider id → id of the key, which is a new one whenever the key is. */
export type OwnKeys = Readonly<Record<string, string>>

/** The organization and the policy of a key that was checked. `test` keys (sk_test_) reach only simulators, `loopback` and speech engines. */
export type Caller = {
  organization: Organization
  keyId: string
  scopes: readonly Scope[]
  test: boolean
  policy: KeyPolicy
}

/** The owner of stored resources. The live and the test keys of an organization have separate ones. */
export type Tenant = { organizationId: string; test: boolean }

export function tenantOf({ organization, test }: Caller): Tenant {
  return { organizationId: organization.id, test }
}

export interface Keys {
  /**
   * Null: unknown, revoked or expired; the calling code cannot tell which. The secret is checked in constant time against the stored
   * digest. A cached key is answered at once.
   */
  verify(secret: string): Caller | null | Promise<Caller | null>
}
