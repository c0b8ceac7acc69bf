/** The answer to the question whether a number can do what its direction asks for. */
import type { PhoneNumber } from './phone-number.ts'

export type SetupStatus = {
  status: 'ready' | 'action_required' | 'suspended'
  inboundReady: boolean
  outboundReady: boolean
  agentReady: boolean
}

export function setupStatusOf(number: PhoneNumber): SetupStatus {
  const { direction } = number
  const isActive = number.suspendedAtMs === null
  const agentReady = hasAnswer(number)
  const inboundReady = isActive && agentReady && direction !== 'outbound'
  const outboundReady = isActive && direction !== 'inbound'
  const isReady = (inboundReady || direction === 'outbound') && (outboundReady || direction === 'inbound')
  const status = isActive ? (isReady ? 'ready' : 'action_required') : 'suspended'
  return { status, inboundReady, outboundReady, agentReady }
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
