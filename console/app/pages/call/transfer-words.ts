/** Puts a call's transfers into words. */
import type { Call, CallEvent, Transfer } from '../../../../generated/clients/typescript/models/platform.ts'

type Mask = (text: string) => string

/** Returns the transfer under way, if there is one. */
export const openTransferOf = ({ ended_at: endedAt, transfers }: Call) =>
  endedAt === null ? transfers.findLast(({ completed_at: completedAt }) => completedAt === null) : undefined

/** Returns the completed transfer, if there is one. The agent has then left the call. */
export const completedTransferOf = ({ transfers }: Call) => transfers.findLast(({ status }) => status === 'completed')

export const statusWords: Readonly<Record<Transfer['status'], string>> = {
  requested: 'calling',
  screening: 'asking the person',
  bridging: 'connecting the caller',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** Names the recipient by the label and the number. The mask hides them if private text is hidden. */
export const recipientOf = ({ label, transfer_to: to }: Transfer, mask: Mask) =>
  mask(label === null ? to : `${label} (${to})`)

/** Says how an attempt ended. `back` is the sentence about the caller after a failed attempt. */
export function outcomeOf(transfer: Transfer, events: readonly CallEvent[], back: string, mask: Mask): string {
  const recipient = recipientOf(transfer, mask)
  if (transfer.status === 'completed') return `Transferred to ${recipient}. The caller talks with them.`
  if (transfer.status === 'cancelled') return `The transfer to ${recipient} was cancelled. ${back}`
  return `The transfer to ${recipient} failed: ${reasonOf(transfer, events)}. ${back}`
}

const reasons: Readonly<Record<NonNullable<Transfer['failure_cause']>, string>> = {
  busy: 'the line is busy',
  no_answer: 'nobody answered',
  declined: 'the person did not accept',
  voicemail: 'a voicemail answered',
  caller_hung_up: 'the caller hung up',
  carrier_error: 'the number could not be connected',
}

/** If a person was asked and did not decide, the cause is also `no_answer`, as if the phone had only rung. */
function reasonOf({ id, failure_cause: cause }: Transfer, events: readonly CallEvent[]): string {
  if (cause === null) return 'the reason is unknown'
  const wasAsked = events.some(({ event_type: type, payload }) => type === 'transfer.screening' && payload['id'] === id)
  return reasons[cause === 'no_answer' && wasAsked ? 'declined' : cause]
}
