/** A sent rich message as stored. Its text is stored beside it if the organization keeps texts. */
import { createHash } from 'node:crypto'
import type { Tenant } from './organization.ts'
import type { MessageService, MessageState, MessageStatus } from './states/rmsg-message.ts'

export type RmsgMessage = Tenant &
  MessageState & {
    /** A UUID, which is also sent to the provider. */
    id: string
    phoneNumberId: string
    conversationId: string
    /** A phone number in E.164 form. */
    to: string
    tags: Readonly<Record<string, string>>
    createdAtMs: number
  }

/** The limit for stored texts, in code points. A sent message is not longer. */
export const textCharactersMax = 18_996

export type MessageReport = { status: MessageStatus; service: MessageService }

export interface MessageStore {
  /** Stores the message, and the text if the organization keeps texts. */
  insert(message: RmsgMessage, text: string): Promise<void>
  /**
   * Stores a report on a message's progress and returns the message. Resolves with null if there is no such message.
   */
  report(id: string, report: MessageReport): Promise<RmsgMessage | null>
}

/**
 * Computes the conversation id (a version 8 UUID, RFC 9562) from the two numbers. The id is always the same for the
 * same pair, so no lookup is needed.
 */
export function conversationIdOf(phoneNumberId: string, remoteNumber: string): string {
  return hashedUuid(`${phoneNumberId} ${remoteNumber}`)
}

/** Computes the id of a received message if the provider's id for the message is not a UUID. */
export function receivedIdOf(eventId: string): string {
  return hashedUuid(`received ${eventId}`)
}

function hashedUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
