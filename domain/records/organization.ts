import type { Objective, Stage } from '../ports/model.ts'
import type { Aliases } from './aliases.ts'

export const scopes = ['router', 'realtime', 'platform', 'rmsg', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** An API key's settings. They fill in missing fields in a request and narrow its choices. */
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

/** A key's maximum cost in a period: a UTC day, a UTC month, or since the budget was set. */
export type Budget = { microUsd: number; period: (typeof budgetPeriods)[number] }

export type Organization = {
  id: string
  name: string
  maxConcurrency: number | null
  ownKeys: OwnKeys
  /** True if the operator has disabled the organization: its requests are refused. */
  isDisabled: boolean
}

/** The organization's provider keys: provider id → key id. A replaced key gets a new id. */
export type OwnKeys = Readonly<Record<string, string>>

/**
 * A verified API key's organization and policy. `test` keys (sk_test_) reach only simulators, `loopback` and speech
 * engines.
 */
export type Caller = {
  organization: Organization
  keyId: string
  scopes: readonly Scope[]
  test: boolean
  policy: KeyPolicy
}

/** The owner of stored resources. An organization's live keys and test keys have separate resources. */
export type Tenant = { organizationId: string; test: boolean }

export function tenantOf({ organization, test }: Caller): Tenant {
  return { organizationId: organization.id, test }
}

export interface Keys {
  /**
   * Null if the key is unknown, revoked or expired; the calling code cannot tell which. The secret is checked in
   * constant time against the stored digest. A cached key is answered at once.
   */
  verify(secret: string): Caller | null | Promise<Caller | null>
}
