/** The provider of rich messages: it sends them, and reports what became of them. */
import type { MessageService, MessageStatus } from '../records/states/rmsg-message.ts'

export type MessageToSend = {
  /** UUID. The provider sends a message that comes again under its id only once. */
  id: string
  conversationId: string
  /** The name of our number at the provider. */
  providerIdentity: string
  /** E.164. */
  to: string
  text: string
  /** The number that an SMS comes from where the phone takes no rich message, in E.164. Null: there is no SMS. */
  smsFrom: string | null
}

export interface RichMessageProvider {
  /** Resolves when the provider has queued the message. Rejects with RichMessageError. */
  send(message: MessageToSend): Promise<void>
  /** Whether one of our numbers has this name at the provider, and may send. Rejects with RichMessageError. */
  has(providerIdentity: string): Promise<boolean>
}

/** The provider did not take the message, or gave no answer in time. */
export class RichMessageError extends Error {
  /** Null without an answer. */
  readonly status: number | null
  /** The reason in the words of the provider, which may name the number. */
  readonly detail: string | null
  /** Nobody knows whether the provider has taken it. */
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

/** Our number that an event is about, and the conversation. */
export type NumberOfEvent = { conversationId: string; providerIdentity: string }

/** The parts of an event that we read. */
export type RichMessageEvent = {
  /** The same each time that the provider sends the event. */
  id: string
  type: RichEventType
  occurredAtMs: number
  /** The name of our number at the provider, or the number itself in E.164. */
  providerIdentity: string
  /** Null: the provider knows no conversations. */
  conversationId: string | null
  /** E.164. */
  remoteNumber: string
  /** That of our message, also where the event is a reaction to it. */
  messageId: string
  /** Null: the event says nothing of a message that we sent. */
  report: { status: MessageStatus; service: MessageService } | null
  /** The body for the receivers: that of the provider, unless its form is another one. */
  bytesFor(number: NumberOfEvent): Uint8Array
}

export interface RichMessageWebhooks {
  /**
   * `message` is our message, where its id came with the address. `forged`: the provider has not signed these bytes, or not now.
   * `other`: no event of a message.
   */
  read(
    headers: Readonly<Record<string, unknown>>,
    body: Uint8Array,
    message: string | null,
  ): RichMessageEvent | 'forged' | 'other'
}
