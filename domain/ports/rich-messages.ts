/** The provider for rich messages: it sends messages and reports their progress. */
import type { MessageService, MessageStatus } from '../records/states/rmsg-message.ts'

export type MessageToSend = {
  /** A UUID. If two messages have the same id, the provider sends only the first. */
  id: string
  conversationId: string
  /** This server's phone number as the provider names it. */
  providerIdentity: string
  /** A phone number in E.164 form. */
  to: string
  text: string
  /** If the phone cannot receive rich messages, an SMS is sent from this number, in E.164. Null if no SMS is sent. */
  smsFrom: string | null
}

export interface RichMessageProvider {
  /** Resolves when the provider has queued the message. Rejects with RichMessageError. */
  send(message: MessageToSend): Promise<void>
  /**
   * Resolves with true if the provider has a number with this name and permits sending from it. Rejects with
   * RichMessageError.
   */
  has(providerIdentity: string): Promise<boolean>
}

/** The provider refused the message, or did not answer in time. */
export class RichMessageError extends Error {
  /** Null if the provider did not answer. */
  readonly status: number | null
  /** The provider's explanation, which may contain the number. */
  readonly detail: string | null
  /** True if the provider may have accepted the message in spite of the error. */
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

/** The number and the conversation of an event. */
export type NumberOfEvent = { conversationId: string; providerIdentity: string }

/** The fields of an event that this server uses. */
export type RichMessageEvent = {
  /** If the provider sends the event again, the id is the same. */
  id: string
  type: RichEventType
  occurredAtMs: number
  /** The name that the provider uses for our number, or the number itself in E.164. */
  providerIdentity: string
  /** Null if the provider has no conversations. */
  conversationId: string | null
  /** In E.164 form, or as the provider names the person. */
  remoteNumber: string
  /** The id of our message, also if the event is a reaction to it. */
  messageId: string
  /** Null unless the event reports on a sent message. */
  report: { status: MessageStatus; service: MessageService } | null
  /** The service that carried a received message. Null for other events, and if the provider does not name it. */
  receivedOver: MessageService | null
  /** The text of a received message. Null for other events, and if the message has no text. */
  text: string | null
  /** Makes the event body for subscribers: the provider's body, converted to the subscribers' format if necessary. */
  bytesFor(number: NumberOfEvent): Uint8Array
}

export interface RichMessageWebhooks {
  /**
   * Reads one webhook request. `message` is our message's id if the webhook URL contained it. `forged`: the provider
   * has not signed these bytes, or its signature is too old. `other`: the event is not about a message.
   */
  read(
    headers: Readonly<Record<string, unknown>>,
    body: Uint8Array,
    message: string | null,
  ): RichMessageEvent | 'forged' | 'other'
}
