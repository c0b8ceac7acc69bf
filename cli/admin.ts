/** The administration behind the commands `keys`, `org`, `users`, `kyb` and `rmsg`. The store itself is handed in, so that this folder knows no SQL. */
import type { WantedBudget } from './budget-option.ts'
import { CommandError } from './command-error.ts'
import { keyIn } from './key-name.ts'
import { createRichNumbers, type RichNumberStore, type RichNumbers, type SyncedNumbers } from './rich-numbers.ts'

export type KeyRow = {
  id: string
  name: string
  /** The part of the secret that may be shown. */
  publicId: string
  scopes: readonly string[]
  /** Names of the fields that its policy sets. */
  policy: readonly string[]
  /** Null: it has none. `spentMicroUsd` is what it has cost in the period that it is now. */
  budget: (WantedBudget & { spentMicroUsd: number }) | null
  test: boolean
  createdAt: Date
  revokedAt: Date | null
  expiresAt: Date | null
  lastUsedAt: Date | null
}
type NewOrganization = {
  name: string
  /** Null: no limit. */
  maxConcurrency: number | null
  creditMicroUsd: number
  smsEnabled: boolean
  rmsgEnabled: boolean
  recordingEnabled: boolean
}
type OrganizationSettings = NewOrganization & {
  /** Null: no limit. */
  maxSessions: number | null
  rmsgLegacyInventory: boolean
  rmsgBackend: 'default' | 'receive_only'
  adminOrganization: boolean
  isDisabled: boolean
}
export type OrganizationRow = OrganizationSettings & { id: string; createdAt: Date }
export type OrganizationChanges = Partial<OrganizationSettings>

/** The verification of the business of an organization. */
export type VerificationRow = {
  organizationId: string
  status: string
  businessProfile: Readonly<Record<string, unknown>> | null
  rejectionReason: string | null
  submittedAtMs: number | null
}
/** A credential of a user, shown once. */
export type IssuedCredential = { secret: string; expiresAt: Date }
export type UserRow<Role extends string = string> = { id: string; email: string; organizationId: string; role: Role }

export type Decision = { event: 'approve' | 'revoke' } | { event: 'reject'; reason: string }

/** `lifeMs` null: it does not expire. */
export type WantedKey = { name: string; scopes: string[]; test: boolean; policy: object; lifeMs: number | null }

/** A key with its secret, which is shown once. */
export type IssuedKey = { id: string; secret: string }

/** The store's administration, opened for one command. */
export type Admin = {
  organizations(): Promise<OrganizationRow[]>
  organization(id: string): Promise<OrganizationRow>
  createOrganization(name: string): Promise<OrganizationRow>
  /** Changes what is named and leaves the rest. */
  changeOrganization(id: string, changes: OrganizationChanges): Promise<OrganizationRow>
  addCredit(organization: string, microUsd: number): Promise<OrganizationRow>
  keys(organization: string): Promise<KeyRow[]>
  /** Answers the secret, which is shown this once. */
  createKey(organization: string, key: WantedKey): Promise<IssuedKey>
  /** The old secret works for `overlapMs` still. */
  rotateKey(organization: string, nameOrId: string, overlapMs: number): Promise<IssuedKey>
  /** Answers its id. */
  revokeKey(organization: string, nameOrId: string): Promise<string>
  /** Null takes the budget away. */
  setBudget(organization: string, nameOrId: string, budget: WantedBudget | null): Promise<KeyRow>
  users(organization: string): Promise<UserRow[]>
  createUser(organization: string, email: string, role: string): Promise<UserRow>
  issueCredential(organization: string, email: string, kind: 'user_token' | 'session'): Promise<IssuedCredential>
  removeUser(organization: string, email: string): Promise<boolean>
  verifications(): Promise<VerificationRow[]>
  decide(organization: string, decision: Decision): Promise<VerificationRow>
  richNumbers: RichNumbers
  sharedCampaign(): Promise<SharedCampaignRow | null>
  /** Null clears it. */
  shareCampaign(wanted: WantedCampaign | null): Promise<SharedCampaignRow | null>
  /** Counts sealed secrets: moved to the current master key, not movable, and sealed with a master key that nobody gave. */
  resealKeys(): Promise<{ resealed: number; failed: number; unreadable: number }>
}

type WantedCampaign = { label: string; campaignId: string }
export type SharedCampaignRow = WantedCampaign & { status: string }

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

/** The part of the store that these commands use. */
export type AdminStore<Scope extends string, Policy, Role extends string> = {
  organizations: {
    list(): Promise<OrganizationRow[]>
    find(id: string): Promise<OrganizationRow | null>
    create(organization: NewOrganization): Promise<OrganizationRow>
    change(id: string, changes: OrganizationChanges): Promise<OrganizationRow | 'admin_taken' | null>
    addCredit(id: string, microUsd: number): Promise<OrganizationRow | null>
  }
  keys: {
    list(organizationId: string): Promise<StoredKey<Policy>[]>
    create(key: NewKey<Scope, Policy>): Promise<StoredSecret | null>
    rotate(organizationId: string, id: string, overlapMs: number): Promise<StoredSecret | null>
    revoke(organizationId: string, id: string): Promise<boolean>
  }
  keyBudgets: {
    read(organizationId: string): Promise<readonly { keyId: string; budget: WantedBudget; spentMicroUsd: number }[]>
    set(organizationId: string, keyId: string, budget: WantedBudget | null): Promise<boolean>
  }
  users: {
    list(organizationId: string): Promise<UserRow[]>
    create(organizationId: string, email: string, role: Role): Promise<UserRow | null>
    issue(organizationId: string, email: string, kind: 'user_token' | 'session'): Promise<IssuedCredential | null>
    remove(organizationId: string, email: string): Promise<boolean>
  }
  /** `decide` answers a status where that status does not allow the decision. */
  verifications: {
    list(): Promise<VerificationRow[]>
    decide(organizationId: string, decision: Decision): Promise<VerificationRow | string>
  }
  rmsgInventory: RichNumberStore
  /** Null: no provider is configured. */
  syncRmsg: (test: boolean) => Promise<SyncedNumbers | null>
  /** `share` answers null where the carrier does not know the campaign. */
  campaigns: {
    find(): Promise<SharedCampaignRow | null>
    share(wanted: WantedCampaign): Promise<SharedCampaignRow | null>
    clear(): Promise<void>
  }
  sealedSecrets: { reseal(): Promise<{ resealed: number; failed: number }>; unreadable(): Promise<number> }
}

/** How the contract spells scopes and policies. */
export type KeyWords<Scope extends string, Policy, Role extends string> = {
  scopes: readonly Scope[]
  roles: readonly Role[]
  /** In E.164. */
  isPhoneNumber: (text: string) => boolean
  nowMs: () => number
  /** Throws CommandError, naming the field that is wrong. */
  readPolicy: (policy: unknown) => Policy
  policyFields: (policy: Policy) => string[]
}

export function createAdmin<Scope extends string, Policy, Role extends string>(
  {
    organizations,
    keys,
    keyBudgets,
    users,
    verifications,
    rmsgInventory,
    syncRmsg,
    campaigns,
    sealedSecrets,
  }: AdminStore<Scope, Policy, Role>,
  { scopes, roles, isPhoneNumber, nowMs, readPolicy, policyFields }: KeyWords<Scope, Policy, Role>,
): Admin {
  /** An id is taken as it is. A name must be that of one organization alone. */
  async function organizationId(nameOrId: string): Promise<string> {
    if (nameOrId.startsWith('org_')) return nameOrId
    const named = (await organizations.list()).filter(({ name }) => name === nameOrId)
    if (named.length > 1)
      throw new CommandError(`${named.length} organizations have the name ${nameOrId}; give the id of one`)
    return found(named[0] ?? null, noOrganization(nameOrId)).id
  }
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
  /** The ids of an organization and of one of its live keys. */
  async function keyOf(organization: string, nameOrId: string): Promise<[string, string]> {
    const id = await organizationId(organization)
    return [id, keyIn(await keys.list(id), nameOrId)]
  }
  return {
    organizations: () => organizations.list(),
    organization: async (id) => found(await organizations.find(await organizationId(id)), noOrganization(id)),
    changeOrganization: async (id, changes) => {
      const changed = found(await organizations.change(await organizationId(id), changes), noOrganization(id))
      if (changed === 'admin_taken')
        throw new CommandError('another organization has admin_organization; turn it off there first')
      return changed
    },
    createOrganization: (name) => organizations.create(newOrganization(name)),
    addCredit: async (id, microUsd) =>
      found(await organizations.addCredit(await organizationId(id), microUsd), noOrganization(id)),
    keys: keyRows,
    createKey: async (organization, { name, scopes: names, test, policy, lifeMs }) => {
      const expiresAtMs = lifeMs === null ? null : nowMs() + lifeMs
      const key = { organizationId: await organizationId(organization), name, test, expiresAtMs }
      const stored = await keys.create({ ...key, scopes: readScopes(scopes, names), policy: readPolicy(policy) })
      return issued(found(stored, noOrganization(organization)))
    },
    rotateKey: async (organization, nameOrId, overlapMs) => {
      const rotated = await keys.rotate(...(await keyOf(organization, nameOrId)), overlapMs)
      return issued(found(rotated, noKey(nameOrId)))
    },
    revokeKey: async (organization, nameOrId) => {
      const [id, keyId] = await keyOf(organization, nameOrId)
      if (!(await keys.revoke(id, keyId))) throw new CommandError(noKey(nameOrId))
      return keyId
    },
    setBudget: async (organization, nameOrId, budget) => {
      const [id, keyId] = await keyOf(organization, nameOrId)
      if (!(await keyBudgets.set(id, keyId, budget))) throw new CommandError(noKey(nameOrId))
      return found((await keyRows(id)).find((row) => row.id === keyId) ?? null, noKey(nameOrId))
    },
    users: async (id) => users.list(await organizationId(id)),
    createUser: async (id, email, role) =>
      found(await users.create(await organizationId(id), email, readRole(roles, role)), noOrganization(id)),
    issueCredential: async (id, email, kind) =>
      found(await users.issue(await organizationId(id), email, kind), `${email} is no user of ${id}`),
    removeUser: async (id, email) => users.remove(await organizationId(id), email),
    verifications: () => verifications.list(),
    decide: async (id, decision) => {
      const decided = await verifications.decide(await organizationId(id), decision)
      if (typeof decided !== 'string') return decided
      throw new CommandError(`${decision.event} is not possible: the verification of ${id} is ${decided}`)
    },
    richNumbers: createRichNumbers(rmsgInventory, { isPhoneNumber, organizationId, sync: syncRmsg }),
    sharedCampaign: () => campaigns.find(),
    shareCampaign: async (wanted) => {
      if (wanted !== null)
        return found(
          await campaigns.share(wanted),
          `the carrier does not know ${wanted.campaignId}, or does not answer`,
        )
      await campaigns.clear()
      return null
    },
    resealKeys: async () => ({ ...(await sealedSecrets.reseal()), unreadable: await sealedSecrets.unreadable() }),
  }
}

const issued = ({ key, secret }: StoredSecret): IssuedKey => ({ id: key.id, secret })

function newOrganization(name: string): NewOrganization {
  const permissions = { smsEnabled: false, rmsgEnabled: false, recordingEnabled: false }
  return { name, creditMicroUsd: 0, maxConcurrency: null, ...permissions }
}

function found<Value>(value: Value | null, message: string): Value {
  if (value === null) throw new CommandError(message)
  return value
}

const noKey = (nameOrId: string) => `there is no live key ${nameOrId}`
const noOrganization = (id: string) => `there is no organization ${id}`

function readScopes<Scope extends string>(scopes: readonly Scope[], names: readonly string[]): Scope[] {
  const isScope = (name: string): name is Scope => (scopes as readonly string[]).includes(name)
  const unknown = names.find((name) => !isScope(name))
  if (unknown !== undefined) throw new CommandError(`${unknown} is no scope; there are ${scopes.join(', ')}`)
  return names.filter(isScope)
}

function readRole<Role extends string>(roles: readonly Role[], name: string): Role {
  const role = roles.find((known) => known === name)
  if (role === undefined) throw new CommandError(`${name} is no role; there are ${roles.join(', ')}`)
  return role
}
