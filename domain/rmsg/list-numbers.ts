/** The rich-message numbers that an organization sees, with what can be done on each. */
import type { Tenant } from '../records/organization.ts'
import { admitted, type RmsgNumber, type RmsgNumberStore } from './numbers.ts'

export type RmsgCapabilities = Record<'calls' | 'messages' | 'rmsgFirst' | 'smsFallback', boolean>
/** `agentId` is absent in the view of an organization of before pools. */
export type ShownRmsgNumber = Omit<RmsgNumber, 'agentId'> & {
  agentId?: string | null
  capabilities: RmsgCapabilities
}

/** Throws ResourceFault `rmsg_not_enabled`. */
export type ListRmsgNumbers = (tenant: Tenant) => Promise<ShownRmsgNumber[]>

const listMax = 1_000

/** `hasProvider`: messages can be sent in the world of the tenant. */
export function createListRmsgNumbers(
  store: RmsgNumberStore,
  hasProvider: (tenant: Tenant) => boolean,
): ListRmsgNumbers {
  return async (tenant) => {
    const { view, backend } = admitted(await store.access(tenant))
    const sends = backend === 'default' && hasProvider(tenant)
    const numbers = await (view === 'pool' ? store.pool(tenant, listMax) : store.inventory(tenant.test, listMax))
    return numbers.map(({ agentId, ...number }) => ({
      ...number,
      ...(view !== 'legacy' && { agentId }),
      capabilities: capabilitiesOf(number, sends),
    }))
  }
}

/** An SMS goes out only behind a rich message. */
function capabilitiesOf({ status, smsStatus }: Omit<RmsgNumber, 'agentId'>, sends: boolean): RmsgCapabilities {
  const isActive = status === 'active'
  const messages = isActive && sends
  return { calls: isActive, messages, rmsgFirst: messages, smsFallback: isActive && smsStatus === 'ready' }
}
