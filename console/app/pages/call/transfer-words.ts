/** Puts a call's transfers into words. */
import type {
  Call,
  CallEvent,
  DoneFallback,
  Transfer,
  TransferStep,
} from '../../../../generated/clients/typescript/models/platform.ts'

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

type Outcome = {
  events: readonly CallEvent[]
  /** True if the person who looks at the page speaks in the call. */
  isSpeaking: boolean
}

/** Says how an attempt ended, and what follows for the caller. */
export function outcomeOf(transfer: Transfer, { events, isSpeaking }: Outcome, mask: Mask): string {
  const recipient = recipientOf(transfer, mask)
  if (transfer.status === 'completed') return `Transferred to ${recipient}. The caller talks with them.`
  const next = nextOf(transfer, events, isSpeaking)
  if (transfer.status === 'cancelled') return `The transfer to ${recipient} was cancelled.${next}`
  return `The transfer to ${recipient} failed: ${reasonOf(transfer, events)}.${next}`
}

const fallbacks: Readonly<Record<DoneFallback['action'], string>> = {
  return_to_assistant: ' The agent has the caller again.',
  take_message: ' The agent takes a message.',
  end_call: ' The call ends.',
}

/** Without the attempt's last event, nothing is said about the caller. */
function nextOf(transfer: Transfer, events: readonly CallEvent[], isSpeaking: boolean): string {
  if (transfer.failure_cause === 'caller_hung_up') return ''
  const { next_transfer_id: nextId = null, fallback = null } = endOf(transfer, events) ?? {}
  if (nextId !== null) return ' The next number is called.'
  if (fallback === null) return ''
  const isOwn = isSpeaking && fallback.action === 'return_to_assistant'
  return isOwn ? ' You have the caller again.' : fallbacks[fallback.action]
}

/** Returns the payload of the attempt's last event. It says how the call goes on. */
export function endOf({ id }: Transfer, events: readonly CallEvent[]): TransferStep | undefined {
  const last = events.findLast(({ event_type: type, payload }) => endTypes.has(type) && payload['id'] === id)
  return last?.payload as TransferStep | undefined
}

const endTypes = new Set<CallEvent['event_type']>(['transfer.failed', 'transfer.cancelled'])

const reasons: Readonly<Record<NonNullable<Transfer['failure_cause']>, string>> = {
  busy: 'the line is busy',
  no_answer: 'nobody answered',
  declined: 'the person did not accept',
  voicemail: 'a voicemail answered',
  caller_hung_up: 'the caller hung up',
  carrier_error: 'the number could not be connected',
}

/** If a person answered and did not decide, the cause is also `no_answer`, as if the phone had only rung. */
function reasonOf({ id, failure_cause: cause }: Transfer, events: readonly CallEvent[]): string {
  if (cause === null) return 'the reason is unknown'
  const wasAsked = events.some(({ event_type: type, payload }) => type === 'transfer.screening' && payload['id'] === id)
  return cause === 'no_answer' && wasAsked ? 'the person did not decide in time' : reasons[cause]
}
