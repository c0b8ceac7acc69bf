import type { Objective, Stage } from '../ports/model.ts'
import type { Aliases } from './aliases.ts'
import { carry, entryOf } from './audit.ts'

export const scopes = ['router', 'realtime', 'platform', 'rmsg', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** Users' roles, from the lowest to the highest. Each role may do what the lower roles may. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** An API key's settings. They are defaults for a request's missing fields, and they restrict the request's choices. */
export type KeyPolicy = {
  voice?: string
  /** Pinned models (`provider/model`) for speech to text, LLM and text to speech, in order of preference. */
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

/** The maximum amount that a key may cost in a period: a UTC day, a UTC month, or the time since the budget was set. */
export type Budget = { microUsd: number; period: (typeof budgetPeriods)[number] }

export type Organization = {
  id: string
  name: string
  maxConcurrency: number | null
  ownKeys: OwnKeys
  /** True if the operator has disabled the organization: its requests are refused. */
  isDisabled: boolean
}

/** The organization's provider keys: each provider's id with the key's id. A replaced key gets a new id. */
export type OwnKeys = Readonly<Record<string, string>>

/**
 * The organization and the policy of a verified API key or a user. `test` keys (sk_test_) reach only simulators,
 * `loopback` and speech engines on this server.
 */
export type Caller = {
  organization: Organization
  keyId: string
  scopes: readonly Scope[]
  /** The user's role. Absent if the caller is an API key. */
  role?: Role
  test: boolean
  policy: KeyPolicy
  /** The presented secret of an API key. Absent for a user, and for a caller that was found without a secret. */
  secret?: KeySecret
}

/** A key has two secrets for a while after a rotation. `id` reveals nothing about the secret. */
export type KeySecret = {
  id: string
  /** The time when the secret expires, in milliseconds since the epoch. Null if the secret does not expire. */
  endsAtMs: number | null
}

/** The owner of stored resources. An organization's live keys and test keys have separate resources. */
export type Tenant = { organizationId: string; test: boolean }

/** The tenant carries the caller's audit entry to the store. */
export function tenantOf(caller: Caller): Tenant {
  return carry({ organizationId: caller.organization.id, test: caller.test }, entryOf(caller))
}

export interface Keys {
  /**
   * Returns null if the key is unknown, revoked or expired; the calling code cannot distinguish these cases. The secret
   * is compared in constant time with the stored digest. If the key is cached, the answer is returned without a
   * promise.
   */
  verify(secret: string): Caller | null | Promise<Caller | null>
}
