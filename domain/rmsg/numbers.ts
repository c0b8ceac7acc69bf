/**
 * Rich-message numbers. The operator owns them all, and puts them into organizations' pools. An organization's view
 * decides the numbers it sees and uses (table in docs/rmsg.md): the admin organization sees all, any other its pool. If
 * an organization had access before pools existed, its view is `legacy` until it gets its first number.
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
  /** The provider's name for the number. */
  providerIdentity: string
  /** The organization whose pool holds it. Null if no pool does. */
  organizationId: string | null
  /** The agent that answers on it. Null if the number is free. */
  agentId: string | null
  /** `paused` by the operator. `unavailable` if the provider has lost it. */
  status: 'active' | 'paused' | 'unavailable'
  smsStatus: SmsStatus
  smsReadyAtMs: number | null
  createdAtMs: number
}

/** The settings behind an organization's view. */
export type RmsgAccess = {
  isAdmin: boolean
  isEnabled: boolean
  /** True if it had access before pools existed. */
  isLegacy: boolean
  hasPool: boolean
  backend: RmsgBackend
}

type RmsgView = 'admin' | 'pool' | 'legacy'

export type RmsgNumberStore = {
  /** Null if the organization does not exist. */
  access(tenant: Tenant): Promise<RmsgAccess | null>
  /** Oldest first. */
  pool(tenant: Tenant, limit: number): Promise<RmsgNumber[]>
  /** The numbers of all organizations, oldest first. */
  inventory(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** Finds a number in any organization. */
  find(test: boolean, id: string): Promise<RmsgNumber | null>
}

export type RmsgNumbers = {
  /** Throws ResourceFault `rmsg_not_enabled` unless the organization has access. */
  admit(tenant: Tenant): Promise<void>
  /** For sends as an agent. Throws ResourceFault `rmsg_off` unless rich messages are on for the organization. */
  requireEnabled(tenant: Tenant): Promise<void>
  /**
   * For calls and messages from the number. Throws ResourceFault `rmsg_not_enabled`, or `rmsg_number_not_found` if the
   * tenant may not use it.
   */
  use(tenant: Tenant, id: string): Promise<RmsgNumber>
  /** True if the organization may send messages. Throws ResourceFault `rmsg_not_enabled`. */
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

/** Throws ResourceFault `rmsg_not_enabled`. */
export function admitted(access: RmsgAccess | null): RmsgAccess & { view: RmsgView } {
  const view = access && rmsgViewOf(access)
  if (access === null || view === null) throw new ResourceFault({ kind: 'rmsg_not_enabled' })
  return { ...access, view }
}

/** True if the agent answers on a number reserved for it. */
export function isDedicated(rmsg: AgentSettings['rmsg']): rmsg is RmsgSetting {
  return rmsg?.enabled === true && rmsg.mode === 'dedicated'
}
type RmsgSetting = NonNullable<AgentSettings['rmsg']>

/** Null if the organization has no access. */
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
