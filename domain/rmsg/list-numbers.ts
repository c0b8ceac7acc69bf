/** Lists an organization's rich-message numbers with their capabilities. */
import type { Tenant } from '../records/organization.ts'
import { admitted, type RmsgNumber, type RmsgNumberStore } from './numbers.ts'

export type RmsgCapabilities = Record<'calls' | 'messages' | 'rmsgFirst' | 'smsFallback', boolean>
/** In the view `legacy` (see numbers.ts), `agentId` is absent. */
export type ShownRmsgNumber = Omit<RmsgNumber, 'agentId'> & {
  agentId?: string | null
  capabilities: RmsgCapabilities
}

/** Lists the rich-message numbers that the tenant can see. Throws ResourceFault `rmsg_not_enabled`. */
export type ListRmsgNumbers = (tenant: Tenant) => Promise<ShownRmsgNumber[]>

const listMax = 1_000

/** `hasProvider` returns true if the tenant's messages can be sent: live and test messages have separate providers. */
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

/** Returns the number's capabilities. An SMS is only the fallback for a rich message. */
function capabilitiesOf({ status, smsStatus }: Omit<RmsgNumber, 'agentId'>, sends: boolean): RmsgCapabilities {
  const isActive = status === 'active'
  const messages = isActive && sends
  return { calls: isActive, messages, rmsgFirst: messages, smsFallback: isActive && smsStatus === 'ready' }
}
