/** Buys, lists, changes and releases an organization's phone numbers. */
import type { NumberSearch, OfferedNumber } from '../ports/number-carrier.ts'
import { SmsRegistryError } from '../ports/sms-registry.ts'
import type { Tenant } from '../records/organization.ts'
import { numbersMax, type OwnedNumberChange, type PhoneNumber } from '../records/phone-number.ts'
import { ResourceFault, refuseIssues, requireResource } from '../records/resource-fault.ts'
import type { SmsRegistries } from '../records/sms-registration.ts'
import { issuesOfChange, issuesOfTrunk, issuesOfWhole } from './check-number.ts'
import { createImport, type ImportDeps, type ImportNumber, refuseNumber } from './import-number.ts'
import { createPurchase, type PurchaseDeps, type PurchaseNumber, rejectAsFault } from './purchase.ts'
import { hasAnswer } from './setup-status.ts'

export type PhoneNumberDeps = PurchaseDeps &
  ImportDeps & {
    smsRegistries: SmsRegistries
    /** If true, a change that sets only the agent also changes the number's direction. */
    followsAgent: boolean
  }

/** A method that refuses a request throws ResourceFault. */
export type PhoneNumbers = {
  /** Lists the phone numbers, oldest first. */
  list(tenant: Tenant): Promise<PhoneNumber[]>
  get(tenant: Tenant, id: string): Promise<PhoneNumber>
  /** Changes a number. Running calls keep their settings. */
  change(tenant: Tenant, id: string, change: OwnedNumberChange): Promise<PhoneNumber>
  /** Finds numbers for sale. */
  search(tenant: Tenant, query: NumberSearch): Promise<OfferedNumber[]>
  purchase: PurchaseNumber
  import: ImportNumber
  /** Releases a number. Running calls continue. The number is first removed from its text-message campaign. */
  release(tenant: Tenant, id: string): Promise<void>
}

export function createPhoneNumbers(deps: PhoneNumberDeps): PhoneNumbers {
  const { store, rules, clock, carriers, followsAgent } = deps
  return {
    list: (tenant) => store.list(tenant, numbersMax),
    get: async (tenant, id) => requireResource(await store.find(tenant, id)),
    async change(tenant, id, change) {
      refuseIssues(await issuesOfChange(change, rules, tenant.organizationId))
      if (Object.keys(change).length === 0) return requireResource(await store.find(tenant, id))
      const changed = await store.change(tenant, id, (number) => {
        const draft = { ...changedNumber(number, change), updatedAtMs: clock.nowMs() }
        const whole = followsAgent ? { ...draft, direction: followingDirection(number, draft, change) } : draft
        refuseIssues([...issuesOfTrunk(number, change), ...issuesOfWhole(whole)])
        return whole
      })
      return requireResource(typeof changed === 'string' ? refuseNumber(changed) : changed)
    },
    search: (tenant, query) => carriers.of(tenant).search(query).catch(rejectAsFault),
    purchase: createPurchase(deps),
    import: createImport(deps),
    async release(tenant, id) {
      // Releases of a carrier's number must run one after another. Other releases need not wait.
      const step = () => releaseOne(deps, tenant, id)
      await (isOfCarrier(requireResource(await store.find(tenant, id))) ? store.inTurn(tenant, id, step) : step())
    },
  }
}

const isOfCarrier = ({ order, source }: PhoneNumber) => order.status === 'done' && source === 'managed'

async function releaseOne(deps: PhoneNumberDeps, tenant: Tenant, id: string): Promise<void> {
  const { store } = deps
  // Reads the number again, because during the wait another request may have released it, and another organization may
  // have bought it.
  const number = requireResource(await store.find(tenant, id))
  const { order } = number
  if (order.status === 'pending') throw new ResourceFault({ kind: 'order_pending' })
  if (isOfCarrier(number)) await giveBack(deps, number)
  if (!(await store.remove(tenant, id))) throw new ResourceFault({ kind: 'not_found' })
}

/**
 * Returns the number after a change. If its connection changes, the time of its first call is removed, because this
 * call used the old connection.
 */
function changedNumber(number: PhoneNumber, { sipConnectionInstallationId, ...same }: OwnedNumberChange): PhoneNumber {
  const connectionId = sipConnectionInstallationId ?? number.connectionId
  const firstCalledAtMs = connectionId === number.connectionId ? number.firstCalledAtMs : null
  return { ...number, ...same, connectionId, firstCalledAtMs }
}

/**
 * Returns the direction after a change. If inbound calls can no longer be answered, the direction becomes `outbound`.
 * If only an agent is set on an `outbound` number, the direction becomes `both`, or `inbound` if the number's
 * connection places no calls.
 */
function followingDirection(
  before: PhoneNumber,
  after: PhoneNumber,
  change: OwnedNumberChange,
): PhoneNumber['direction'] {
  if (change.direction !== undefined) return change.direction
  if (hasAnswer(before) && !hasAnswer(after)) return 'outbound'
  const isAttached = typeof change.agentId === 'string' && Object.keys(change).length === 1
  if (!isAttached || before.direction !== 'outbound') return after.direction
  return before.connection?.placesCalls === false ? 'inbound' : 'both'
}

async function giveBack({ carriers, smsRegistries }: PhoneNumberDeps, number: PhoneNumber): Promise<void> {
  const carrier = carriers.of(number)
  try {
    if (number.smsAssignment !== null) await smsRegistries.of(number).unassign(number.e164)
    const resourceId = number.order.resourceId ?? (await carrier.resourceIdOf(number.e164))
    if (resourceId !== null) await carrier.release(resourceId)
  } catch (error) {
    if (error instanceof SmsRegistryError) throw new ResourceFault({ kind: 'carrier_number_failed' }, { cause: error })
    rejectAsFault(error)
  }
}
