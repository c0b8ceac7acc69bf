import type { ProviderKeyAdministration } from '../../domain/access/provider-keys.ts'
import type { KeyBudgets } from '../../domain/billing/key-spending.ts'
import { type AuditEntry, entryOf } from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { OrganizationRecord, OwnSettings } from '../../domain/records/organization-settings.ts'
import { refuseIssues } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Organization } from '../../generated/platform/types.ts'
import { getCreditBalance, getCreditLedger } from './credit-ledger.ts'
import { getCredits } from './credits.ts'
import { getUsage, type UsageDeps } from './usage.ts'

/** Reads and changes an organization's settings. Methods return null if the organization does not exist. */
type OrganizationSettingsStore = {
  find(id: string): Promise<OrganizationRecord | null>
  change(
    id: string,
    changes: Partial<OwnSettings>,
    entry?: AuditEntry,
  ): Promise<OrganizationRecord | 'admin_taken' | 'legacy_ended' | 'zone_unknown' | null>
}

export type OrganizationDeps = Omit<UsageDeps, 'ownKeysOf' | 'organizations'> & {
  organizations: OrganizationSettingsStore
  keys: Pick<ProviderKeyAdministration, 'list'>
  keyBudgets: Pick<KeyBudgets, 'read'>
}

type Handlers = PlatformHandlers<Caller>

export function organizationOperations(deps: OrganizationDeps) {
  const { organizations, creditAccounts, keyBudgets } = deps
  return {
    getOrganization: getOrganization(organizations),
    updateOrganization: updateOrganization(organizations),
    getCredits: getCredits(creditAccounts, keyBudgets),
    getCreditBalance: getCreditBalance(creditAccounts),
    getCreditLedger: getCreditLedger(creditAccounts),
    getUsage: getUsage({ ...deps, ownKeysOf: (organizationId) => deps.keys.list(organizationId) }),
  } satisfies Partial<Handlers>
}

function getOrganization(organizations: OrganizationSettingsStore): Handlers['getOrganization'] {
  return async (_request, { caller }) => ({
    status: 200,
    body: wireOrganization(await organizations.find(caller.organization.id)),
  })
}

function updateOrganization(organizations: OrganizationSettingsStore): Handlers['updateOrganization'] {
  return async ({ body: { name, recording, timeZone, toolResults, messageText } }, { caller }) => {
    // Names each setting, so that a field that the contract gains later cannot change the operator's settings.
    const changes = {
      ...(name !== undefined && { name }),
      ...(recording !== undefined && { recordingEnabled: recording }),
      ...(timeZone !== undefined && { timeZone }),
      ...(toolResults !== undefined && { toolResults }),
      ...(messageText !== undefined && { messageText }),
    }
    const changed = await organizations.change(caller.organization.id, changes, entryOf(caller))
    if (changed === 'zone_unknown') refuseIssues([{ path: ['timeZone'], problem: { kind: 'timezone_unknown' } }])
    return { status: 200, body: wireOrganization(changed) }
  }
}

function wireOrganization(record: Awaited<ReturnType<OrganizationSettingsStore['change']>>): Organization {
  // A missing organization would be a defect: the key was just checked, organizations are not deleted, and these
  // changes cannot make an organization the admin.
  if (record === null || typeof record === 'string') throw new Error('the organization of a live key is not stored')
  return {
    id: record.id,
    name: record.name,
    smsEnabled: record.smsEnabled,
    rmsgEnabled: record.rmsgEnabled,
    rmsgLegacyInventory: record.rmsgLegacyInventory,
    rmsgBackend: record.rmsgBackend,
    adminOrganization: record.adminOrganization,
    recording: record.recordingEnabled,
    timeZone: record.timeZone,
    toolResults: record.toolResults,
    messageText: record.messageText,
    maxConcurrency: record.maxConcurrency,
    maxSessions: record.maxSessions,
    creditMicroUsd: String(record.creditMicroUsd),
    createdAt: record.createdAt.toISOString(),
  }
}
