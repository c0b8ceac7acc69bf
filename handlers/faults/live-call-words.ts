/** The platform API's messages for faults about live calls and their transfers. */
import type { NotLiveReason, ResourceFaultData } from '../../domain/records/resource-fault.ts'
import type { Said } from './said.ts'

const withRecipient = 'The caller talks to the recipient of a transfer, and the agent has left.'

const notLive: Record<NotLiveReason, Omit<Said, 'code'>> = {
  ending: { message: 'The call is ending: the agent says its last words.', hint: 'Start a new call.' },
  transferring: {
    message: 'The caller is on hold while the call is transferred.',
    hint: 'Wait for the end of the transfer. If the agent has the caller again, a person can join.',
  },
  with_recipient: {
    message: withRecipient,
    hint: 'Nobody can join this call any more. End it, or start a new call.',
  },
}

const transferredBefore: Omit<Said, 'code'> = {
  message: withRecipient,
  hint: 'The call cannot be transferred again. End it, or start a new call.',
}

const kinds = ['call_not_live', 'transfer_in_progress', 'transfer_state_conflict'] as const
type LiveCallFault = Extract<ResourceFaultData, { kind: (typeof kinds)[number] }>

export function isOfLiveCall(data: ResourceFaultData): data is LiveCallFault {
  return (kinds as readonly string[]).includes(data.kind)
}

export function sayLiveCallFault(data: LiveCallFault): Said {
  switch (data.kind) {
    case 'call_not_live':
      return { code: 'CALL_NOT_LIVE', ...(data.because && notLive[data.because]) }
    case 'transfer_in_progress':
      return { code: 'TRANSFER_IN_PROGRESS', ...(data.isConnected && transferredBefore) }
    case 'transfer_state_conflict':
      return {
        code: 'TRANSFER_STATE_CONFLICT',
        message: `The transfer is not in a state that allows it: its status is ${data.status}.`,
        details: { status: data.status },
      }
  }
}
