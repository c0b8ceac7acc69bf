/**
 * The states of a rich message that was sent, as one table. Reports of a provider may come twice, late and in any order, so a
 * state may be skipped and none comes back.
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

/** The channel that carried the message: the rich one, or one that the provider fell back to. */
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

/** `channel` is null until the provider has said what carries the message. */
export type MessageState = { status: MessageStatus; channel: MessageService | null }

/** The state after a report. The same object, where the report comes too late to move anything. */
export function follow(
  state: MessageState,
  { status, service }: { status: MessageStatus; service: MessageService },
): MessageState {
  if (!moves[state.status].includes(status)) return state
  return { status, channel: status === 'sent' || status === 'delivered' ? service : state.channel }
}

/** Nothing moves the message any more. */
export function isFinal({ status }: MessageState): boolean {
  return moves[status].length === 0
}

/** Null: nothing is known of the channel yet. */
export function fallbackApplied({ channel }: MessageState): boolean | null {
  return channel === null ? null : channel !== 'rmsg'
}
