/**
 * A sent rich message's states as one table. A provider's reports may arrive twice, late and in any order, so states
 * may be skipped, but an earlier state never returns.
 *
 *   registered ─► pending ─► queued ─► accepted ─► sent ─► delivered
 *        └───────────┴──────────┴─────────┴─────────┴────► declined, error
 */
export const messageStatuses = [
  'registered',
  'pending',
  'queued',
  'accepted',
  'sent',
  'delivered',
  'declined',
  'error',
] as const
export type MessageStatus = (typeof messageStatuses)[number]

/** The channel that carried the message: rich messages, or the provider's fallback. */
export const messageServices = ['rmsg', 'sms', 'rcs'] as const
export type MessageService = (typeof messageServices)[number]

const moves: Readonly<Record<MessageStatus, readonly MessageStatus[]>> = {
  registered: ['pending', 'queued', 'accepted', 'sent', 'delivered', 'declined', 'error'],
  pending: ['queued', 'accepted', 'sent', 'delivered', 'declined', 'error'],
  queued: ['accepted', 'sent', 'delivered', 'declined', 'error'],
  accepted: ['sent', 'delivered', 'declined', 'error'],
  sent: ['delivered', 'declined', 'error'],
  delivered: [],
  declined: [],
  error: [],
}

/** `channel` is null until the provider has reported the channel. */
export type MessageState = { status: MessageStatus; channel: MessageService | null }

/** Returns the state after a report. If the report arrives too late to change anything, returns the same object. */
export function follow(
  state: MessageState,
  { status, service }: { status: MessageStatus; service: MessageService },
): MessageState {
  if (!moves[state.status].includes(status)) return state
  return { status, channel: status === 'sent' || status === 'delivered' ? service : state.channel }
}

/** Returns true if no report can change the status any more. */
export function isFinal({ status }: MessageState): boolean {
  return moves[status].length === 0
}

/** Returns true if the message went over a fallback channel. Returns null if the channel is not known yet. */
export function fallbackApplied({ channel }: MessageState): boolean | null {
  return channel === null ? null : channel !== 'rmsg'
}
