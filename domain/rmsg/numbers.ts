/**
 * Rich-message numbers. The operator owns all of them, and puts them into the pools of organizations. An organization sees
 * and uses numbers by its view, which docs/rmsg.md has as a table: the admin organization all of them, any other its pool.
 * One that had access before there were pools has the view `legacy` until it gets its first number.
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
  /** The name of the number at the provider. */
  providerIdentity: string
  /** The organization whose pool it is in. Null: it is in no pool. */
  organizationId: string | null
  /** The agent that answers on it. Null: it is free. */
  agentId: string | null
  /** Paused by the operator; unavailable where the provider has lost it. */
  status: 'active' | 'paused' | 'unavailable'
  smsStatus: SmsStatus
  smsReadyAtMs: number | null
  createdAtMs: number
}

/** The settings that decide what an organization sees. */
export type RmsgAccess = {
  isAdmin: boolean
  isEnabled: boolean
  /** It had access before there were pools. */
  isLegacy: boolean
  hasPool: boolean
  backend: RmsgBackend
}

type RmsgView = 'admin' | 'pool' | 'legacy'

export type RmsgNumberStore = {
  /** Null: there is no such organization. */
  access(tenant: Tenant): Promise<RmsgAccess | null>
  /** Oldest first. */
  pool(tenant: Tenant, limit: number): Promise<RmsgNumber[]>
  /** The numbers of all organizations, oldest first. */
  inventory(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** A number of any organization. */
  find(test: boolean, id: string): Promise<RmsgNumber | null>
}

export type RmsgNumbers = {
  /** Throws ResourceFault `rmsg_not_enabled` unless the organization has access. */
  admit(tenant: Tenant): Promise<void>
  /** For sends as an agent. Throws ResourceFault `rmsg_off` unless rich messages are on for the organization. */
  requireEnabled(tenant: Tenant): Promise<void>
  /** For calls and messages from the number. Throws ResourceFault `rmsg_not_enabled`, or `rmsg_number_not_found` where it may not be used. */
  use(tenant: Tenant, id: string): Promise<RmsgNumber>
  /** Whether the organization may send messages. Throws ResourceFault `rmsg_not_enabled`. */
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

/** Whether the agent answers on a number that no other agent has. */
export function isDedicated(rmsg: AgentSettings['rmsg']): rmsg is RmsgSetting {
  return rmsg?.enabled === true && rmsg.mode === 'dedicated'
}
type RmsgSetting = NonNullable<AgentSettings['rmsg']>

/** Null: the organization has no access. */
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
