/** The answer to the question whether a number can do what its direction asks for. */
import type { PhoneNumber } from './phone-number.ts'

export type SetupIssue =
  | 'carrier_pending'
  | 'carrier_order_failed'
  | 'sip_connection_failing'
  | 'forwarding_required'
  | 'payment_overdue'

export type SetupStatus = {
  status: 'ready' | 'action_required' | 'suspended'
  inboundReady: boolean
  outboundReady: boolean
  agentReady: boolean
  /** No call has come over the trunk yet, so that it may send the calls to somewhere else. It informs only. */
  forwardingRequired: boolean
  /** True for numbers of the carrier. */
  sipConnectionReady: boolean
  issues: SetupIssue[]
}

const issueOfOrder: Partial<Record<PhoneNumber['order']['status'], SetupIssue>> = {
  pending: 'carrier_pending',
  failed: 'carrier_order_failed',
}

export function setupStatusOf(number: PhoneNumber): SetupStatus {
  const { direction, suspendedAtMs, order } = number
  const isActive = suspendedAtMs === null && order.status === 'done'
  const agentReady = hasAnswer(number)
  const { takesCalls, placesCalls } = number.connection ?? ofCarrier
  const inboundReady = isActive && agentReady && takesCalls && direction !== 'outbound'
  const outboundReady = isActive && placesCalls && direction !== 'inbound'
  const isReady = (inboundReady || direction === 'outbound') && (outboundReady || direction === 'inbound')
  const status = suspendedAtMs !== null ? 'suspended' : isReady ? 'ready' : 'action_required'
  const sipConnectionReady = number.source === 'managed' || number.connection?.status === 'ready'
  return {
    ...{ status, inboundReady, outboundReady, agentReady, sipConnectionReady },
    forwardingRequired: isForwardingRequired(number),
    issues: issuesOf(number),
  }
}

/** The number as a server without a port for SIP serves it: nothing comes or goes over a trunk. Test numbers are simulated. */
export function withoutTrunks(number: PhoneNumber): PhoneNumber {
  if (number.source === 'managed' || number.test) return number
  return { ...number, connection: { status: 'failing', takesCalls: false, placesCalls: false } }
}

const ofCarrier = { takesCalls: true, placesCalls: true }

function isForwardingRequired({ source, direction, firstCalledAtMs }: PhoneNumber): boolean {
  return source === 'sip_trunk' && direction !== 'outbound' && firstCalledAtMs === null
}

function issuesOf(number: PhoneNumber): SetupIssue[] {
  const { order, overdueSinceMs, connection } = number
  const ofOrder = issueOfOrder[order.status]
  return [
    ...(ofOrder === undefined ? [] : [ofOrder]),
    ...(connection?.status === 'failing' ? (['sip_connection_failing'] as const) : []),
    ...(isForwardingRequired(number) ? (['forwarding_required'] as const) : []),
    ...(overdueSinceMs === null ? [] : (['payment_overdue'] as const)),
  ]
}

/** Whether calls to the number meet an agent, or settings that make one. */
export function hasAnswer({
  agentId,
  dispatchMetadataTemplate: template,
}: Pick<PhoneNumber, 'agentId' | 'dispatchMetadataTemplate'>): boolean {
  if (agentId !== null) return true
  const { intent, systemPrompt } = (template ?? {}) as { intent?: { language?: string }; systemPrompt?: string | null }
  return intent?.language !== undefined && typeof systemPrompt === 'string'
}
