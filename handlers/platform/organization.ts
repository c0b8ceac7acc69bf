import type { Caller } from '../../domain/access/organization.ts'
import type { OrganizationRecord, OrganizationSettings } from '../../domain/access/organization-settings.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Organization } from '../../generated/platform/types.ts'

/** Null: there is no such organization. */
export type OrganizationDeps = {
  find(id: string): Promise<OrganizationRecord | null>
  change(
    id: string,
    changes: Partial<Pick<OrganizationSettings, 'name' | 'recordingEnabled'>>,
  ): Promise<OrganizationRecord | 'admin_taken' | null>
}

type Handlers = PlatformHandlers<Caller>

export function getOrganization(organizations: OrganizationDeps): Handlers['getOrganization'] {
  return async (_request, { caller }) => ({
    status: 200,
    body: wireOrganization(await organizations.find(caller.organization.id)),
  })
}

export function updateOrganization(organizations: OrganizationDeps): Handlers['updateOrganization'] {
  return async ({ body: { name, recording } }, { caller }) => {
    const changes = {
      ...(name !== undefined && { name }),
      ...(recording !== undefined && { recordingEnabled: recording }),
    }
    return { status: 200, body: wireOrganization(await organizations.change(caller.organization.id, changes)) }
  }
}

function wireOrganization(record: OrganizationRecord | 'admin_taken' | null): Organization {
  // Its key was just checked, organizations are not deleted, and these changes do not make one the admin organization.
  if (record === null || record === 'admin_taken') throw new Error('the organization of a live key is not stored')
  return {
    id: record.id,
    name: record.name,
    smsEnabled: record.smsEnabled,
    rmsgEnabled: record.rmsgEnabled,
    rmsgLegacyInventory: record.rmsgLegacyInventory,
    rmsgBackend: record.rmsgBackend,
    adminOrganization: record.adminOrganization,
    recording: record.recordingEnabled,
    maxConcurrency: record.maxConcurrency,
    maxSessions: record.maxSessions,
    creditMicroUsd: String(record.creditMicroUsd),
    createdAt: record.createdAt.toISOString(),
  }
}
