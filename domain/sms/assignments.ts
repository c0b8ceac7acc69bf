/**
 * Assigns numbers to campaigns, and removes numbers from campaigns. An assignment has these statuses:
 *
 *   null, FAILED_ASSIGNMENT ──assign──► PENDING_ASSIGNMENT ──► ASSIGNED | FAILED_ASSIGNMENT
 *   ASSIGNED, FAILED_UNASSIGNMENT ──unassign──► PENDING_UNASSIGNMENT ──► null | FAILED_UNASSIGNMENT
 */
import type { NumberAssignment } from '../ports/sms-registry.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import { activeCampaignOf, type SubmittedCampaign } from '../records/sms-registration.ts'
import { askCarrier } from './ask-carrier.ts'
import type { RegistrationDeps } from './in-turn.ts'
import { refreshCampaigns, refreshShared, withAnswer } from './refresh.ts'

export type CampaignTarget = 'own' | 'shared'

/** If a method refuses the change, such as for an unknown number, it throws ResourceFault. */
export type Assignments = {
  /**
   * Assigns a number to the campaign named by `target`: the organization's campaign or the shared campaign. Null allows
   * both campaigns.
   */
  assign(tenant: Tenant, id: string, target: CampaignTarget | null): Promise<PhoneNumber>
  unassign(tenant: Tenant, id: string): Promise<PhoneNumber>
}

export function createAssignments(deps: RegistrationDeps): Assignments {
  const { numbers, registries } = deps
  return {
    async assign(tenant, id, target) {
      const number = await numberOf(deps, tenant, id)
      if (!isEligible(deps, number)) throw new ResourceFault({ kind: 'sms_number_unsupported' })
      const { campaignId, assignedTo } = await campaignFor(deps, tenant, target)
      const registry = registries.of(tenant)
      const isThere = number.smsAssignment?.campaignId === campaignId && isAssigned(number)
      const answer = await askAssignment(deps, number, () =>
        isThere ? registry.findAssignment(number.e164) : registry.assign(number.e164, campaignId),
      )
      return written(await numbers.assign(tenant, id, withAnswer(deps, number, answer, assignedTo)))
    },
    async unassign(tenant, id) {
      const number = await numberOf(deps, tenant, id)
      if (number.smsAssignment === null) return number
      const registry = registries.of(tenant)
      const isLeaving = number.smsAssignment.status === 'PENDING_UNASSIGNMENT'
      const answer = await askAssignment(deps, number, () =>
        isLeaving ? registry.findAssignment(number.e164) : registry.unassign(number.e164),
      )
      return written(await numbers.assign(tenant, id, withAnswer(deps, number, answer)))
    },
  }
}

/** Returns true if a number can send text messages. */
export function isEligible(
  { isUsNumber }: Pick<RegistrationDeps, 'isUsNumber'>,
  { source, e164, takesSms, order }: PhoneNumber,
): boolean {
  return source === 'managed' && takesSms && order.status === 'done' && isUsNumber(e164)
}

function isAssigned({ smsAssignment }: PhoneNumber): boolean {
  return smsAssignment?.status === 'PENDING_ASSIGNMENT' || smsAssignment?.status === 'ASSIGNED'
}

async function numberOf({ numbers }: RegistrationDeps, tenant: Tenant, id: string): Promise<PhoneNumber> {
  return written(await numbers.find(tenant, id))
}

function written(number: PhoneNumber | null): PhoneNumber {
  if (number === null) throw new ResourceFault({ kind: 'sms_number_not_found' })
  return number
}

type CampaignChoice = { campaignId: string; assignedTo: CampaignTarget }

async function campaignFor(
  deps: RegistrationDeps,
  tenant: Tenant,
  target: CampaignTarget | null,
): Promise<CampaignChoice> {
  const own = target === 'shared' ? null : await ownFor(deps, tenant)
  if (own !== null) return own
  if (target === 'own') throw new ResourceFault({ kind: 'sms_own_campaign_not_ready' })
  const shared = tenant.test ? null : await refreshShared(deps)
  if (shared?.status === 'active') return { campaignId: shared.campaignId, assignedTo: 'shared' }
  throw new ResourceFault({ kind: target === 'shared' ? 'sms_shared_campaign_unavailable' : 'sms_campaign_missing' })
}

/**
 * Finds the organization's approved campaign. Its status is read at the carrier first, because the carrier may have
 * suspended it.
 */
async function ownFor(deps: RegistrationDeps, tenant: Tenant): Promise<CampaignChoice | null> {
  const isActive = ({ status }: SubmittedCampaign) => status === 'active'
  const active =
    activeCampaignOf(await refreshCampaigns(deps, tenant, isActive)) ??
    activeCampaignOf(await refreshCampaigns(deps, tenant, (campaign) => !isActive(campaign)))
  return active && { campaignId: active.id, assignedTo: 'own' }
}

/**
 * Sends a request to the carrier. If the carrier refuses with reasons, they are stored with the number. Without reasons
 * the carrier was unreachable, and the stored reasons are kept.
 */
function askAssignment(
  { numbers }: RegistrationDeps,
  number: PhoneNumber,
  ask: () => Promise<NumberAssignment | null>,
): Promise<NumberAssignment | null> {
  const { smsAssignment, id } = number
  return askCarrier('number', ask, async ({ reviewErrors }) => {
    if (reviewErrors.length > 0) await numbers.assign(number, id, { smsAssignment, smsReviewErrors: reviewErrors })
  })
}
