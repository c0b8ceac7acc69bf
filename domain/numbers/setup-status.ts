/** States if a number is ready for calls in its direction. */
import type { PhoneNumber } from '../records/phone-number.ts'

export type SetupIssue =
  | 'carrier_pending'
  | 'carrier_order_failed'
  | 'sip_connection_failing'
  | 'sip_port_missing'
  | 'forwarding_required'
  | 'payment_overdue'
  | 'approval_pending'
  | 'number_also_imported'

export type SetupStatus = {
  status: 'ready' | 'action_required' | 'suspended'
  inboundReady: boolean
  outboundReady: boolean
  agentReady: boolean
  /**
   * True if no call has arrived over the trunk yet: the trunk's operator may still route the number's calls elsewhere.
   * This is only information and does not affect readiness.
   */
  forwardingRequired: boolean
  /** Always true for a carrier's number. */
  sipConnectionReady: boolean
  issues: SetupIssue[]
}

const issueOfOrder: Partial<Record<PhoneNumber['order']['status'], SetupIssue>> = {
  pending: 'carrier_pending',
  failed: 'carrier_order_failed',
}

/**
 * Returns the number's status. `hasTrunks` is true if this server has a SIP port. Without a SIP port, trunk calls are
 * not possible.
 */
export function setupStatusOf(number: PhoneNumber, hasTrunks: boolean): SetupStatus {
  const { direction, suspendedAtMs, order } = number
  const isUnserved = !hasTrunks && isOfTrunk(number)
  const isActive = suspendedAtMs === null && order.status === 'done' && !number.awaitsApproval
  const agentReady = hasAnswer(number)
  const { takesCalls, placesCalls } = isUnserved ? unserved : (number.connection ?? ofCarrier)
  const inboundReady = isActive && agentReady && takesCalls && direction !== 'outbound'
  const outboundReady = isActive && placesCalls && direction !== 'inbound'
  const isReady = (inboundReady || direction === 'outbound') && (outboundReady || direction === 'inbound')
  const status = suspendedAtMs !== null ? 'suspended' : isReady ? 'ready' : 'action_required'
  const sipConnectionReady = number.source === 'managed' || (!isUnserved && number.connection?.status === 'ready')
  return {
    ...{ status, inboundReady, outboundReady, agentReady, sipConnectionReady },
    forwardingRequired: isForwardingRequired(number),
    issues: issuesOf(number, isUnserved),
  }
}

/** Returns true if the number's calls go over a real trunk. Test numbers are simulated. */
const isOfTrunk = ({ source, test }: PhoneNumber) => source === 'sip_trunk' && !test

const ofCarrier = { takesCalls: true, placesCalls: true }
const unserved = { takesCalls: false, placesCalls: false }

function isForwardingRequired({ source, direction, firstCalledAtMs }: PhoneNumber): boolean {
  return source === 'sip_trunk' && direction !== 'outbound' && firstCalledAtMs === null
}

function issuesOf(number: PhoneNumber, isUnserved: boolean): SetupIssue[] {
  const { order, overdueSinceMs, connection, awaitsApproval, isAlsoImported } = number
  const ofOrder = issueOfOrder[order.status]
  return [
    ...(ofOrder === undefined ? [] : [ofOrder]),
    ...(connection?.status === 'failing' ? (['sip_connection_failing'] as const) : []),
    ...(isUnserved ? (['sip_port_missing'] as const) : []),
    ...(isForwardingRequired(number) ? (['forwarding_required'] as const) : []),
    ...(overdueSinceMs === null ? [] : (['payment_overdue'] as const)),
    ...(awaitsApproval ? (['approval_pending'] as const) : []),
    ...(isAlsoImported ? (['number_also_imported'] as const) : []),
  ]
}

/** Returns true if an agent answers calls to the number, or if its template has enough settings without an agent. */
export function hasAnswer({
  agentId,
  dispatchMetadataTemplate: template,
}: Pick<PhoneNumber, 'agentId' | 'dispatchMetadataTemplate'>): boolean {
  if (agentId !== null) return true
  const { intent, systemPrompt } = (template ?? {}) as { intent?: { language?: string }; systemPrompt?: string | null }
  return intent?.language !== undefined && typeof systemPrompt === 'string'
}
