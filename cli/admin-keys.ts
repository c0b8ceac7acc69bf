/** The store operations behind the command `keys`. */
import type { Budget } from './budget-option.ts'
import { CommandError, noOrganization, required, UsageError } from './command-error.ts'
import { keyIn } from './key-name.ts'

export type KeyRow = {
  id: string
  name: string
  /** The secret's public part. */
  publicId: string
  scopes: readonly string[]
  /** The names of the fields that the key's policy sets. */
  policy: readonly string[]
  /** Null if the key has no budget. `spentMicroUsd` is the key's cost in the current period. */
  budget: (Budget & { spentMicroUsd: number }) | null
  test: boolean
  createdAt: Date
  /**
   * The end of the old secret's life after the last rotation. The old secret no longer works if this is null or past.
   */
  previousUntil: Date | null
  revokedAt: Date | null
  expiresAt: Date | null
  lastUsedAt: Date | null
}
/** If `lifeMs` is null, the key does not expire. */
export type KeySettings = { name: string; scopes: string[]; test: boolean; policy: object; lifeMs: number | null }

/** A key with its secret. The secret is shown once. */
export type IssuedKey = { id: string; secret: string }

export type KeyCommands = {
  keys(organization: string): Promise<KeyRow[]>
  /** Resolves with the key's secret, which is shown only this once. */
  createKey(organization: string, key: KeySettings): Promise<IssuedKey>
  /** Replaces the secret. The old secret works for another `overlapMs`. */
  rotateKey(organization: string, nameOrId: string, overlapMs: number): Promise<IssuedKey>
  /** Revokes the key, and resolves with its id. */
  revokeKey(organization: string, nameOrId: string): Promise<string>
  /** Sets the key's budget. Null removes the budget. */
  setBudget(organization: string, nameOrId: string, budget: Budget | null): Promise<KeyRow>
}

type StoredKey<Policy> = Omit<KeyRow, 'policy' | 'budget'> & { policy: Policy }
type NewKey<Scope, Policy> = {
  organizationId: string
  name: string
  scopes: Scope[]
  test: boolean
  policy: Policy
  expiresAtMs: number | null
}

type StoredSecret = { key: { id: string }; secret: string }

/** The store's methods that these commands use. */
export type KeyStores<Scope extends string, Policy> = {
  keys: {
    list(organizationId: string): Promise<StoredKey<Policy>[]>
    create(key: NewKey<Scope, Policy>): Promise<StoredSecret | null>
    rotate(organizationId: string, id: string, overlapMs: number): Promise<StoredSecret | null>
    revoke(organizationId: string, id: string): Promise<boolean>
  }
  keyBudgets: {
    read(organizationId: string): Promise<readonly { keyId: string; budget: Budget; spentMicroUsd: number }[]>
    set(organizationId: string, keyId: string, budget: Budget | null): Promise<boolean>
  }
}

/** Scopes and policies, as the API contract spells them. */
export type KeyWords<Scope extends string, Policy> = {
  scopes: readonly Scope[]
  nowMs: () => number
  /** Throws CommandError, naming the invalid field. */
  readPolicy: (policy: unknown) => Policy
  policyFields: (policy: Policy) => string[]
}

/** Makes the commands for keys. `organizationId` finds the id for an id or a name. */
export function createKeyCommands<Scope extends string, Policy>(
  { keys, keyBudgets }: KeyStores<Scope, Policy>,
  organizationId: (nameOrId: string) => Promise<string>,
  { scopes, nowMs, readPolicy, policyFields }: KeyWords<Scope, Policy>,
): KeyCommands {
  async function keyRows(organization: string): Promise<KeyRow[]> {
    const id = await organizationId(organization)
    const [rows, spending] = [await keys.list(id), await keyBudgets.read(id)]
    const budgetOf = (keyId: string) => spending.find((each) => each.keyId === keyId)
    return rows.map(({ policy, ...key }) => {
      const spent = budgetOf(key.id)
      const budget = spent === undefined ? null : { ...spent.budget, spentMicroUsd: spent.spentMicroUsd }
      return { ...key, policy: policyFields(policy), budget }
    })
  }
  /** Returns the ids of an organization and its live key. */
  async function keyOf(organization: string, nameOrId: string): Promise<[string, string]> {
    const id = await organizationId(organization)
    return [id, keyIn(await keys.list(id), nameOrId)]
  }
  return {
    keys: keyRows,
    createKey: async (organization, { name, scopes: names, test, policy, lifeMs }) => {
      const expiresAtMs = lifeMs === null ? null : nowMs() + lifeMs
      const key = { organizationId: await organizationId(organization), name, test, expiresAtMs }
      const stored = await keys.create({ ...key, scopes: readScopes(scopes, names), policy: readPolicy(policy) })
      return issued(required(stored, noOrganization(organization)))
    },
    rotateKey: async (organization, nameOrId, overlapMs) => {
      const rotated = await keys.rotate(...(await keyOf(organization, nameOrId)), overlapMs)
      return issued(required(rotated, noKey(nameOrId)))
    },
    revokeKey: async (organization, nameOrId) => {
      const [id, keyId] = await keyOf(organization, nameOrId)
      if (!(await keys.revoke(id, keyId))) throw new CommandError(noKey(nameOrId))
      return keyId
    },
    setBudget: async (organization, nameOrId, budget) => {
      const [id, keyId] = await keyOf(organization, nameOrId)
      if (!(await keyBudgets.set(id, keyId, budget))) throw new CommandError(noKey(nameOrId))
      return required((await keyRows(id)).find((row) => row.id === keyId) ?? null, noKey(nameOrId))
    },
  }
}

const issued = ({ key, secret }: StoredSecret): IssuedKey => ({ id: key.id, secret })
const noKey = (nameOrId: string) => `there is no live key ${nameOrId}`

function readScopes<Scope extends string>(scopes: readonly Scope[], names: readonly string[]): Scope[] {
  const isScope = (name: string): name is Scope => (scopes as readonly string[]).includes(name)
  const unknown = names.find((name) => !isScope(name))
  if (unknown !== undefined) throw new UsageError(`${unknown} is no scope; there are ${scopes.join(', ')}`)
  return names.filter(isScope)
}
