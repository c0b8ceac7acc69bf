/**
 * The states of one attempt to reach a recipient, as one table. An event without an entry changes nothing: an API
 * command is then refused as a conflict, and a carrier's event is only recorded.
 *
 *   requested ──► screening ──► bridging ──► completed
 *       │  (warm)     │            │
 *       └─────────────┴────────────┴──► failed, cancelled
 *
 * A blind attempt goes from requested to bridging.
 */
export const transferStatuses = ['requested', 'screening', 'bridging', 'completed', 'failed', 'cancelled'] as const
export type TransferStatus = (typeof transferStatuses)[number]

export const failureCauses = ['busy', 'no_answer', 'declined', 'voicemail', 'caller_hung_up', 'carrier_error'] as const
export type FailureCause = (typeof failureCauses)[number]

export type AttemptEvent =
  | 'answered'
  | 'accepted'
  | 'declined'
  | 'busy'
  | 'noAnswer'
  | 'lineFailed'
  /** The recipient has left the call. */
  | 'recipientLeft'
  | 'machine'
  | 'bridged'
  | 'callerLeft'
  | 'cancel'
  /** An API client cancelled the attempt because it detected a voicemail. */
  | 'cancelMachine'

type Next = Exclude<TransferStatus, 'failed'> | FailureCause
type Moves = Partial<Record<AttemptEvent, Next>>

const lost: Moves = { callerLeft: 'caller_hung_up' }
const dialled: Moves = {
  ...lost,
  busy: 'busy',
  declined: 'declined',
  noAnswer: 'no_answer',
  lineFailed: 'carrier_error',
  recipientLeft: 'declined',
  cancel: 'cancelled',
  cancelMachine: 'voicemail',
}
const bridging: Moves = { ...lost, bridged: 'completed', lineFailed: 'carrier_error', recipientLeft: 'declined' }

const warm: Partial<Record<TransferStatus, Moves>> = {
  requested: { ...dialled, answered: 'screening', machine: 'voicemail' },
  screening: {
    ...lost,
    accepted: 'bridging',
    declined: 'declined',
    recipientLeft: 'declined',
    machine: 'voicemail',
    // The recipient has answered the phone, but has not answered the agent's question in time.
    noAnswer: 'no_answer',
    lineFailed: 'carrier_error',
    cancel: 'cancelled',
    cancelMachine: 'voicemail',
  },
  bridging,
}
const blind: Partial<Record<TransferStatus, Moves>> = { requested: { ...dialled, answered: 'bridging' }, bridging }

export const attemptMoves = { warm, blind } as const

export type AttemptState = { status: TransferStatus; failureCause: FailureCause | null }

/** Returns the next state, or null if the event has no effect in this state. */
export function nextAttemptState(
  kind: keyof typeof attemptMoves,
  status: TransferStatus,
  event: AttemptEvent,
): AttemptState | null {
  const next = attemptMoves[kind][status]?.[event]
  if (next === undefined) return null
  return isCause(next) ? { status: 'failed', failureCause: next } : { status: next, failureCause: null }
}

/** Returns true if the status is final. */
export function isOver(status: TransferStatus): boolean {
  return attemptMoves.warm[status] === undefined
}

function isCause(next: Next): next is FailureCause {
  return (failureCauses as readonly string[]).includes(next)
}
