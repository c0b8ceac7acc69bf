/**
 * Rich-message numbers. The operator owns them all, and puts them into organizations' pools. An organization's view
 * decides which numbers it sees and uses (table in docs/rmsg.md): the admin organization sees all numbers, and any
 * other organization sees its pool. If an organization had access before pools existed, its view is `legacy` until it
 * gets its first number.
 */

import type { AgentSettings } from '../records/agent.ts'
import type { Tenant } from '../records/organization.ts'
import type { RmsgBackend } from '../records/organization-settings.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { SmsStatus } from './sms-status.ts'

export type RmsgNumber = {
  id: string
  test: boolean
  e164: string
  /** The name that the provider uses for the number. */
  providerIdentity: string
  /** The organization with the number in its pool. Null if the number is in no pool. */
  organizationId: string | null
  /** The agent answering on the number. Null if no agent answers on it. */
  agentId: string | null
  /** `paused`: the operator has paused the number. `unavailable`: the provider does not have the number any more. */
  status: 'active' | 'paused' | 'unavailable'
  smsStatus: SmsStatus
  smsReadyAtMs: number | null
  createdAtMs: number
}

/** The settings that determine an organization's view. */
export type RmsgAccess = {
  isAdmin: boolean
  isEnabled: boolean
  /** True if the organization had access before pools existed. */
  isLegacy: boolean
  hasPool: boolean
  backend: RmsgBackend
}

type RmsgView = 'admin' | 'pool' | 'legacy'

export type RmsgNumberStore = {
  /** Reads the settings. Resolves with null if the organization does not exist. */
  access(tenant: Tenant): Promise<RmsgAccess | null>
  /** Lists the numbers in the organization's pool, oldest first. */
  pool(tenant: Tenant, limit: number): Promise<RmsgNumber[]>
  /** Lists the numbers in all pools and in no pool, oldest first. */
  inventory(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** Finds a number, in any pool. */
  find(test: boolean, id: string): Promise<RmsgNumber | null>
}

export type RmsgNumbers = {
  /** Checks the organization's access. Throws ResourceFault `rmsg_not_enabled` if it has no access. */
  admit(tenant: Tenant): Promise<void>
  /**
   * Must be called before sending as an agent. Throws ResourceFault `rmsg_off` if rich messages are off for the
   * organization.
   */
  requireEnabled(tenant: Tenant): Promise<void>
  /**
   * Finds a number from which the tenant may call or send messages. Throws ResourceFault `rmsg_not_enabled`, or
   * `rmsg_number_not_found` if the tenant may not use the number.
   */
  use(tenant: Tenant, id: string): Promise<RmsgNumber>
  /** Resolves with true if the organization may send messages. Throws ResourceFault `rmsg_not_enabled`. */
  canSend(tenant: Tenant): Promise<boolean>
}

export function createRmsgNumbers(store: RmsgNumberStore): RmsgNumbers {
  return {
    admit: async (tenant) => void admitted(await store.access(tenant)),
    async requireEnabled(tenant) {
      const access = await store.access(tenant)
      if (!access?.isEnabled) throw new ResourceFault({ kind: 'rmsg_off' })
    },
    async use(tenant, id) {
      const { view } = admitted(await store.access(tenant))
      const number = await store.find(tenant.test, id)
      if (number === null || !isUsable(number, view, tenant)) throw new ResourceFault({ kind: 'rmsg_number_not_found' })
      return number
    },
    async canSend(tenant) {
      const { backend } = admitted(await store.access(tenant))
      return backend === 'default'
    },
  }
}

/**
 * Adds the organization's view to its settings. Throws ResourceFault `rmsg_not_enabled` if the organization has no
 * access.
 */
export function admitted(access: RmsgAccess | null): RmsgAccess & { view: RmsgView } {
  const view = access && rmsgViewOf(access)
  if (access === null || view === null) throw new ResourceFault({ kind: 'rmsg_not_enabled' })
  return { ...access, view }
}

/** Returns true if the agent has a number that no other agent uses. */
export function isDedicated(rmsg: AgentSettings['rmsg']): rmsg is RmsgSetting {
  return rmsg?.enabled === true && rmsg.mode === 'dedicated'
}
type RmsgSetting = NonNullable<AgentSettings['rmsg']>

/** Returns the organization's view, or null if it has no access. */
function rmsgViewOf({ isAdmin, isEnabled, isLegacy, hasPool }: RmsgAccess): RmsgView | null {
  if (isAdmin) return 'admin'
  if (!isEnabled) return null
  if (hasPool) return 'pool'
  return isLegacy ? 'legacy' : null
}

function isUsable({ status, organizationId }: RmsgNumber, view: RmsgView, tenant: Tenant): boolean {
  if (status !== 'active') return false
  if (view === 'admin') return true
  return view === 'pool' ? organizationId === tenant.organizationId : organizationId === null
}
