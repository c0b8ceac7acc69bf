/**
 * The call's states as one table: the allowed moves, and each end reason's final status. A session is a call too: it
 * moves to `in_progress` when a browser has joined.
 *
 *   queued ──► dialing ──► ringing ──► in_progress ◄──► transferring ──► completed, failed
 *     │           │           │             │
 *     └───────────┴───────────┴─────────────┴──► the other final statuses
 *
 * An inbound call rings at once.
 */
export const callStatuses = [
  'queued',
  'dialing',
  'ringing',
  'in_progress',
  'transferring',
  'completed',
  'failed',
  'busy',
  'no_answer',
  'cancelled',
  'voicemail',
] as const
export type CallStatus = (typeof callStatuses)[number]

const moves: Readonly<Record<CallStatus, readonly CallStatus[]>> = {
  queued: ['dialing', 'ringing', 'in_progress', 'cancelled', 'failed'],
  dialing: ['ringing', 'in_progress', 'busy', 'no_answer', 'voicemail', 'cancelled', 'failed'],
  ringing: ['in_progress', 'busy', 'no_answer', 'voicemail', 'cancelled', 'failed'],
  in_progress: ['transferring', 'voicemail', 'completed', 'failed'],
  transferring: ['in_progress', 'completed', 'failed'],
  completed: [],
  failed: [],
  busy: [],
  no_answer: [],
  cancelled: [],
  voicemail: [],
}

export function mayMove(from: CallStatus, to: CallStatus): boolean {
  return moves[from].includes(to)
}

/** Returns true if the status is final. */
export function isTerminal(status: CallStatus): boolean {
  return moves[status].length === 0
}

/**
 * The final status for each end reason: `connected` if the call was connected, `before` if it was not. Null if a call
 * cannot end for this reason.
 */
const statusOfReason = {
  user_hangup: { connected: 'completed', before: 'cancelled' },
  user_disconnected: { connected: 'completed', before: null },
  agent_hangup: { connected: 'completed', before: null },
  api_ended: { connected: 'completed', before: 'cancelled' },
  transferred: { connected: 'completed', before: null },
  silence_timeout: { connected: 'completed', before: null },
  max_duration: { connected: 'completed', before: null },
  voicemail: { connected: 'voicemail', before: 'voicemail' },
  busy: { connected: null, before: 'busy' },
  no_answer: { connected: null, before: 'no_answer' },
  not_joined: { connected: null, before: 'cancelled' },
  cancelled: { connected: null, before: 'cancelled' },
  credit_exhausted: { connected: 'completed', before: 'failed' },
  pipeline_failed: { connected: 'failed', before: 'failed' },
  worker_lost: { connected: 'failed', before: 'failed' },
  server_shutdown: { connected: 'failed', before: 'failed' },
  concurrency_exhausted: { connected: 'failed', before: 'failed' },
  not_ready: { connected: 'failed', before: 'failed' },
  declined: { connected: 'failed', before: 'failed' },
  invalid_number: { connected: 'failed', before: 'failed' },
  carrier_error: { connected: 'failed', before: 'failed' },
} as const satisfies Record<string, { connected: CallStatus | null; before: CallStatus | null }>

export type EndReason = keyof typeof statusOfReason
export const endReasons = Object.keys(statusOfReason) as EndReason[]

/**
 * Returns the final status if a call in status `from` ends for `reason`. Returns null if the call cannot end for this
 * reason.
 */
export function endStatus(from: CallStatus, reason: EndReason): CallStatus | null {
  const { connected, before } = statusOfReason[reason]
  const to = from === 'in_progress' || from === 'transferring' ? connected : before
  return to !== null && mayMove(from, to) ? to : null
}

/** Returns the failure cause shown to clients. Returns null if the call did not fail. */
export function failureCause(status: CallStatus, reason: EndReason): string | null {
  if (status !== 'failed' && status !== 'busy' && status !== 'no_answer') return null
  if (reason === 'concurrency_exhausted') return 'concurrency'
  return reason === 'credit_exhausted' ? 'insufficient_credits' : reason
}

/** Makes the end event's payload. `clientReason` is the API client's reason as free text. */
export function endPayload(reason: EndReason, clientReason: string | undefined): Record<string, string> {
  return { end_reason: reason, ...(clientReason !== undefined && { reason: clientReason }) }
}
