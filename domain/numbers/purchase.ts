/** Buys a phone number. All checks happen before the payment. */
import { NumberCarrierError, type OfferedNumber } from '../ports/number-carrier.ts'
import type { Clock } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import { type NumberChange, numbersMax, type PhoneNumber } from '../records/phone-number.ts'
import { ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import type { BusinessVerification } from '../records/verification.ts'
import type { SessionRules } from '../sessions/check.ts'
import { issuesOfChange, issuesOfWhole } from './check-number.ts'
import { nextMonthlyMs } from './months.ts'
import { doneBy, lookEveryMs, type NumberCarriers, type NumberOrderStore } from './orders.ts'
import { hasAnswer } from './setup-status.ts'

export type NewNumber = NumberChange & { e164: string }

export type PurchaseDeps = {
  orders: NumberOrderStore
  carriers: NumberCarriers
  verification: BusinessVerification
  rules: SessionRules
  clock: Clock
  numberId: () => string
  isUsNumber: (e164: string) => boolean
}

export type PurchaseNumber = (tenant: Tenant, input: NewNumber) => Promise<PhoneNumber>

/** If the carrier's answer to an order is not stored after this time, the order's process has died. */
const orderMs = 30_000

/** If a purchase is refused, the returned function throws ResourceFault. */
export function createPurchase(deps: PurchaseDeps): PurchaseNumber {
  return async (tenant, input) => {
    const number = newNumber(deps, tenant, input)
    const isForeign = !deps.isUsNumber(input.e164)
    refuseIssues([
      ...(isForeign ? [{ path: ['e164'], problem: { kind: 'number_not_us' as const } }] : []),
      ...(await issuesOfChange(input, deps.rules, tenant.organizationId)),
      ...issuesOfWhole(number),
    ])
    refuse(await deps.orders.check(number, numbersMax))
    await requireVerification(deps, tenant)
    const priced = await withPrice(deps, number)
    refuse(await deps.orders.insert(priced, deps.clock.nowMs() + orderMs, numbersMax), priced)
    try {
      return await order(deps, priced)
    } catch (error) {
      // The database became unreachable after the order was sent. The number is paid and stays `pending`, so the order
      // is looked up at the carrier later.
      if (error instanceof Fault) return priced
      throw error
    }
  }
}

function newNumber({ clock, numberId }: PurchaseDeps, tenant: Tenant, input: NewNumber): PhoneNumber {
  const { e164, agentId = null, label = null, dispatchMetadataTemplate = null } = input
  const nowMs = clock.nowMs()
  return {
    ...tenant,
    id: numberId(),
    e164,
    source: 'managed',
    ...{ connectionId: null, connection: null, sipProviderName: null },
    direction: input.direction ?? (hasAnswer({ agentId, dispatchMetadataTemplate }) ? 'both' : 'outbound'),
    agentId,
    label,
    dispatchMetadataTemplate,
    order: { status: 'pending', id: null, resourceId: null },
    ...{ awaitsApproval: false, isAlsoImported: false },
    price: null,
    nextChargeAtMs: null,
    lastChargedAtMs: null,
    overdueSinceMs: null,
    suspendedAtMs: null,
    takesSms: false,
    smsAssignment: null,
    smsReviewErrors: [],
    firstCalledAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
}

async function requireVerification({ verification }: PurchaseDeps, { organizationId, test }: Tenant): Promise<void> {
  if (test) return
  const status = await verification.statusOf(organizationId)
  if (status !== 'approved') throw new ResourceFault({ kind: 'verification_required', status })
}

/** Finds the number's offer and sets its price. Test numbers are simulated and cost nothing. */
async function withPrice(deps: PurchaseDeps, number: PhoneNumber): Promise<PhoneNumber> {
  const offer = await offerOf(deps, number)
  if (offer === null) throw new ResourceFault({ kind: 'number_unavailable' })
  const sold = { ...number, takesSms: offer.features.includes('sms') }
  if (number.test) return sold
  const { upfrontMicroUsd, monthlyMicroUsd } = offer
  if (upfrontMicroUsd === null || monthlyMicroUsd === null) throw new ResourceFault({ kind: 'carrier_number_failed' })
  const nowMs = number.createdAtMs
  const price = { upfrontMicroUsd, monthlyMicroUsd }
  return { ...sold, price, nextChargeAtMs: nextMonthlyMs(nowMs, nowMs), lastChargedAtMs: nowMs }
}

function offerOf({ carriers }: PurchaseDeps, number: PhoneNumber): Promise<OfferedNumber | null> {
  return carriers.of(number).offerOf(number.e164).catch(rejectAsFault)
}

/** Throws the fault for an outcome if the outcome is a refusal. `number` is absent if nothing has been paid yet. */
function refuse(outcome: Awaited<ReturnType<NumberOrderStore['insert' | 'check']>>, number?: PhoneNumber): void {
  switch (outcome) {
    case 'inserted':
    case 'free':
      return
    case 'agent_unknown':
      throw new ResourceFault({ kind: 'named_not_found', path: ['agentId'] })
    case 'exists':
      throw new ResourceFault({ kind: 'number_exists' })
    case 'limit_reached':
      throw new ResourceFault({ kind: 'limit_reached', resource: 'phone number', limit: numbersMax })
    case 'unavailable':
      throw new ResourceFault({ kind: 'number_unavailable' })
    case 'credit_too_low': {
      const { upfrontMicroUsd = 0, monthlyMicroUsd = 0 } = number?.price ?? {}
      throw new ResourceFault({ kind: 'number_not_paid', microUsd: upfrontMicroUsd + monthlyMicroUsd })
    }
  }
}

async function order({ orders, carriers, clock }: PurchaseDeps, number: PhoneNumber): Promise<PhoneNumber> {
  const carrier = carriers.of(number)
  try {
    const { id, status } = await carrier.order(number.e164, number.id)
    if (status === 'failed') throw new NumberCarrierError('failed')
    if (status === 'done') return (await orders.end(number, await doneBy(carrier, number, id))) ?? number
    await orders.ordered(number, id, clock.nowMs() + lookEveryMs)
  } catch (error) {
    if (!(error instanceof NumberCarrierError)) throw error
    // The carrier may have accepted the order. So the number is kept, and the carrier is asked again later.
    if (error.failure === 'unknown') return number
    await orders.end(number, { status: 'withdrawn' })
    throw faultOf(error, { isOrdered: true })
  }
  return number
}

export function rejectAsFault(error: unknown): never {
  throw error instanceof NumberCarrierError ? faultOf(error, {}) : error
}

function faultOf(error: NumberCarrierError, ordered: { isOrdered?: true }): ResourceFault {
  if (error.failure === 'unavailable') return new ResourceFault({ kind: 'number_unavailable', ...ordered })
  return new ResourceFault({ kind: 'carrier_number_failed', ...ordered }, { cause: error })
}
