/**
 * The store operations behind the commands `keys`, `org`, `users`, `kyb` and `rmsg`. The store is passed in, so this
 * folder contains no SQL.
 */
import type { Credits, Usage } from '../generated/platform/types.ts'
import { createKeyCommands, type KeyCommands, type KeyStores, type KeyWords } from './admin-keys.ts'
import { createUserCommands, type UserCommands, type UserLinks, type UserStore } from './admin-users.ts'
import { CommandError, noOrganization, required, UsageError } from './command-error.ts'
import { createRichNumbers, type RichNumberStore, type RichNumbers, type SyncedNumbers } from './rich-numbers.ts'

type NewOrganization = {
  name: string
  /** Null if the organization has no concurrency limit. */
  maxConcurrency: number | null
  creditMicroUsd: number
  smsEnabled: boolean
  rmsgEnabled: boolean
  recordingEnabled: boolean
}
type OrganizationSettings = NewOrganization & {
  /** Null if the organization has no limit on sessions. */
  maxSessions: number | null
  rmsgLegacyInventory: boolean
  rmsgBackend: 'default' | 'receive_only'
  adminOrganization: boolean
  /** An IANA name. */
  timeZone: string
  toolResults: 'keep' | 'drop'
  messageText: 'keep' | 'drop'
  isDisabled: boolean
}

/** The fields of an organization's usage that the command `usage` shows. */
export type GroupedUsage = Pick<Usage, 'from' | 'to' | 'groupBy' | 'timeZone' | 'rows' | 'total'>

export type OrganizationRow = OrganizationSettings & { id: string; createdAt: Date }
export type OrganizationChanges = Partial<OrganizationSettings>

/** An organization's business verification. */
export type VerificationRow = {
  organizationId: string
  status: string
  businessProfile: Readonly<Record<string, unknown>> | null
  rejectionReason: string | null
  submittedAtMs: number | null
}
/** A phone number imported by an organization, as the operator sees it. */
export type ImportRow = {
  e164: string
  organizationId: string
  organizationName: string
  /** The name of the number's SIP connection. Null if the number comes from the carrier. */
  connectionName: string | null
  awaitsApproval: boolean
  createdAt: Date
}

/** `unreached` counts calls whose process did not answer. These calls continue. */
export type EndedCalls = { ended: number; unreached: number }

export type Decision = { event: 'approve' | 'revoke' } | { event: 'reject'; reason: string }

type KeysAndUsers = KeyCommands & UserCommands

/** The store's administration, opened for one command. */
export type Admin = KeysAndUsers & {
  organizations(): Promise<OrganizationRow[]>
  organization(id: string): Promise<OrganizationRow>
  createOrganization(name: string): Promise<OrganizationRow>
  /** Changes only the named settings. */
  changeOrganization(id: string, changes: OrganizationChanges): Promise<OrganizationRow>
  addCredit(organization: string, microUsd: number): Promise<OrganizationRow>
  /** Ends the live calls and sessions of a disabled organization, in every process. */
  endCalls(organizationId: string): Promise<EndedCalls>
  verifications(): Promise<VerificationRow[]>
  decide(organization: string, decision: Decision): Promise<VerificationRow>
  /** Lists the phone numbers imported by several organizations. */
  numberConflicts(): Promise<ImportRow[]>
  waitingImports(): Promise<ImportRow[]>
  approveImport(organization: string, e164: string): Promise<void>
  /**
   * `usage` and `credits` return what the API returns for `GET /v1/usage` and `GET /v1/credits` with the organization's
   * live key.
   */
  usage(organization: string, query: UsageQuery): Promise<GroupedUsage>
  credits(organization: string, query: CreditsQuery): Promise<Credits>
  richNumbers: RichNumbers
  sharedCampaign(): Promise<SharedCampaignRow | null>
  /** Sets the campaign that organizations share. Null clears it. */
  shareCampaign(campaign: SharedCampaign | null): Promise<SharedCampaignRow | null>
  /**
   * Seals secrets again with the current master key. Counts the resealed secrets, the failures, and secrets sealed with
   * an unknown master key.
   */
  resealKeys(): Promise<{ resealed: number; failed: number; unreadable: number }>
}

export type UsageQuery = { from?: string; to?: string; groupBy: string }
export type CreditsQuery = { limit: number; cursor?: string }

type SharedCampaign = { label: string; campaignId: string }
export type SharedCampaignRow = SharedCampaign & { status: string }

/** The store's reports about spending. `credits` resolves with null if the organization does not exist. */
export type Spending = {
  usage(organizationId: string, query: UsageQuery): Promise<GroupedUsage>
  credits(organizationId: string, query: CreditsQuery): Promise<Credits | null>
}

type NotChanged = 'name_taken' | 'admin_taken' | 'legacy_ended' | 'zone_unknown'

/** The part of the store that these commands use. */
export type AdminStore<Scope extends string, Policy, Role extends string> = KeyStores<Scope, Policy> & {
  organizations: {
    list(): Promise<OrganizationRow[]>
    find(id: string): Promise<OrganizationRow | null>
    createNamed(organization: NewOrganization): Promise<OrganizationRow | 'name_taken'>
    changeNamed(id: string, changes: OrganizationChanges): Promise<OrganizationRow | NotChanged | null>
    addCredit(id: string, microUsd: number): Promise<OrganizationRow | null>
  }
  users: UserStore<Role>
  userLinks: UserLinks<Role>
  /** `decide` resolves with the current status if this status does not allow the decision. */
  verifications: {
    list(): Promise<VerificationRow[]>
    decide(organizationId: string, decision: Decision): Promise<VerificationRow | string>
  }
  /** `approve` resolves with false if no import of the number waits for approval. */
  numberImports: {
    conflicts(): Promise<ImportRow[]>
    waiting(): Promise<ImportRow[]>
    approve(organizationId: string, e164: string): Promise<boolean>
  }
  endCalls: (organizationId: string) => Promise<EndedCalls>
  spending: Spending
  rmsgInventory: RichNumberStore
  /** Compares the rich-message numbers with the provider's numbers. Null if no provider is configured. */
  syncRmsg: (test: boolean) => Promise<SyncedNumbers | null>
  /** `share` resolves with null if the carrier has no such campaign. */
  campaigns: {
    find(): Promise<SharedCampaignRow | null>
    share(campaign: SharedCampaign): Promise<SharedCampaignRow | null>
    clear(): Promise<void>
  }
  sealedSecrets: { reseal(): Promise<{ resealed: number; failed: number }>; unreadable(): Promise<number> }
}

/** Scopes, policies and roles, as the API contract spells them. */
export type CommandWords<Scope extends string, Policy, Role extends string> = KeyWords<Scope, Policy> & {
  roles: readonly Role[]
  /** Returns true if the text is a phone number in E.164. */
  isPhoneNumber: (text: string) => boolean
}

export function createAdmin<Scope extends string, Policy, Role extends string>(
  {
    organizations,
    keys,
    keyBudgets,
    users,
    userLinks,
    verifications,
    numberImports,
    endCalls,
    spending,
    rmsgInventory,
    syncRmsg,
    campaigns,
    sealedSecrets,
  }: AdminStore<Scope, Policy, Role>,
  { roles, isPhoneNumber, ...words }: CommandWords<Scope, Policy, Role>,
): Admin {
  /** Returns an organization's id. An id is used as it is. A name must belong to exactly one organization. */
  async function organizationId(nameOrId: string): Promise<string> {
    if (nameOrId.startsWith('org_')) return nameOrId
    const named = (await organizations.list()).filter(({ name }) => name === nameOrId)
    if (named.length > 1)
      throw new CommandError(
        `${named.length} organizations have the name ${nameOrId}; give the id of one: ${named.map(({ id }) => id).join(', ')}`,
      )
    return required(named[0] ?? null, noOrganization(nameOrId)).id
  }
  return {
    organizations: () => organizations.list(),
    organization: async (id) => required(await organizations.find(await organizationId(id)), noOrganization(id)),
    changeOrganization: async (id, changes) => {
      const changed = required(await organizations.changeNamed(await organizationId(id), changes), noOrganization(id))
      if (typeof changed === 'string') throw notChanged(changed, id, changes)
      return changed
    },
    createOrganization: async (name) => {
      const created = await organizations.createNamed(newOrganization(name))
      if (created === 'name_taken') throw nameInUse(name)
      return created
    },
    endCalls,
    addCredit: async (id, microUsd) =>
      required(await organizations.addCredit(await organizationId(id), microUsd), noOrganization(id)),
    ...createKeyCommands({ keys, keyBudgets }, organizationId, words),
    ...createUserCommands({ store: users, links: userLinks }, organizationId, roles),
    ...createVerificationCommands(verifications, organizationId),
    ...createImportCommands(numberImports, organizationId),
    usage: async (name, query) => {
      const { id } = required(await organizations.find(await organizationId(name)), noOrganization(name))
      return spending.usage(id, query)
    },
    credits: async (name, query) =>
      required(await spending.credits(await organizationId(name), query), noOrganization(name)),
    richNumbers: createRichNumbers(rmsgInventory, { isPhoneNumber, organizationId, sync: syncRmsg }),
    sharedCampaign: () => campaigns.find(),
    shareCampaign: (campaign) => shareCampaign(campaigns, campaign),
    resealKeys: async () => ({ ...(await sealedSecrets.reseal()), unreadable: await sealedSecrets.unreadable() }),
  }
}

type OrganizationId = (nameOrId: string) => Promise<string>

function createVerificationCommands(
  verifications: AdminStore<never, never, never>['verifications'],
  organizationId: OrganizationId,
): Pick<Admin, 'verifications' | 'decide'> {
  return {
    verifications: () => verifications.list(),
    decide: async (id, decision) => {
      const decided = await verifications.decide(await organizationId(id), decision)
      if (typeof decided !== 'string') return decided
      throw new CommandError(`${decision.event} is not possible: the verification of ${id} is ${decided}`)
    },
  }
}

function createImportCommands(
  imports: AdminStore<never, never, never>['numberImports'],
  organizationId: OrganizationId,
): Pick<Admin, 'numberConflicts' | 'waitingImports' | 'approveImport'> {
  return {
    numberConflicts: () => imports.conflicts(),
    waitingImports: () => imports.waiting(),
    approveImport: async (id, e164) => {
      if (await imports.approve(await organizationId(id), e164)) return
      throw new CommandError(`no import of ${e164} waits in ${id}: \`parley numbers waiting\` shows all that wait`)
    },
  }
}

function notChanged(why: NotChanged, id: string, { name = '', timeZone = '' }: OrganizationChanges): CommandError {
  if (why === 'name_taken') return nameInUse(name)
  if (why === 'zone_unknown')
    return new UsageError(`${timeZone} is no name of the IANA time zone database, such as Europe/Berlin`)
  if (why === 'admin_taken')
    return new CommandError('another organization has admin_organization; turn it off there first')
  return new CommandError(
    `${id} has had a number in its pool, which ends rmsg_legacy_inventory for good; put numbers into its pool with \`parley rmsg assign\``,
  )
}

async function shareCampaign(
  campaigns: AdminStore<never, never, never>['campaigns'],
  campaign: SharedCampaign | null,
): Promise<SharedCampaignRow | null> {
  if (campaign !== null)
    return required(
      await campaigns.share(campaign),
      `the carrier does not know ${campaign.campaignId}, or does not answer`,
    )
  await campaigns.clear()
  return null
}

const nameInUse = (name: string) =>
  new CommandError(
    `another organization has the name ${name}; choose another name, because commands mean an organization by it (\`parley org list\` shows all)`,
  )

function newOrganization(name: string): NewOrganization {
  const permissions = { smsEnabled: false, rmsgEnabled: false, recordingEnabled: false }
  return { name, creditMicroUsd: 0, maxConcurrency: null, ...permissions }
}
