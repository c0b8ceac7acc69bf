/** The rich-message provider: it sends messages and reports their progress. */
import type { MessageService, MessageStatus } from '../records/states/rmsg-message.ts'

export type MessageToSend = {
  /** UUID. If a message comes again under its id, the provider sends it only once. */
  id: string
  conversationId: string
  /** Our number's name at the provider. */
  providerIdentity: string
  /** E.164. */
  to: string
  text: string
  /** If the phone takes no rich message, an SMS is sent from this number, in E.164. Null if no SMS is sent. */
  smsFrom: string | null
}

export interface RichMessageProvider {
  /** Resolves when the provider has queued the message. Rejects with RichMessageError. */
  send(message: MessageToSend): Promise<void>
  /** True if our number has this name at the provider and may send. Rejects with RichMessageError. */
  has(providerIdentity: string): Promise<boolean>
}

/** The provider did not take the message, or gave no answer in time. */
export class RichMessageError extends Error {
  /** Null without an answer. */
  readonly status: number | null
  /** The provider's explanation, which may contain the number. */
  readonly detail: string | null
  /** True if it is unknown whether the provider has taken the message. */
  readonly mayBeSent: boolean

  constructor(
    { status, detail, mayBeSent }: { status: number | null; detail: string | null; mayBeSent: boolean },
    options: { cause?: unknown } = {},
  ) {
    super('the provider did not take the message', options)
    this.name = 'RichMessageError'
    this.status = status
    this.detail = detail
    this.mayBeSent = mayBeSent
  }
}

export const richEventTypes = [
  'rmsg.sent',
  'rmsg.delivered',
  'rmsg.delivery_failed',
  'rmsg.received',
  'rmsg.reaction_received',
] as const
export type RichEventType = (typeof richEventTypes)[number]

/** An event's number and conversation. */
export type NumberOfEvent = { conversationId: string; providerIdentity: string }

/** The fields we read from an event. */
export type RichMessageEvent = {
  /** The same each time the provider sends the event. */
  id: string
  type: RichEventType
  occurredAtMs: number
  /** Our number's name at the provider, or the number itself in E.164. */
  providerIdentity: string
  /** Null if the provider knows no conversations. */
  conversationId: string | null
  /** E.164. */
  remoteNumber: string
  /** Our message's id, even if the event is a reaction to the message. */
  messageId: string
  /** Null if the event does not report on a sent message. */
  report: { status: MessageStatus; service: MessageService } | null
  /** The body for the receivers: the provider's body, converted if it has another form. */
  bytesFor(number: NumberOfEvent): Uint8Array
}

export interface RichMessageWebhooks {
  /**
   * `message` is our message's id if the webhook address contained it. `forged`: the provider has not signed these
   * bytes, or not recently. `other`: the event is not about a message.
   */
  read(
    headers: Readonly<Record<string, unknown>>,
    body: Uint8Array,
    message: string | null,
  ): RichMessageEvent | 'forged' | 'other'
}
