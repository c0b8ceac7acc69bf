/** A sent rich message as stored: without its text. */
import { createHash } from 'node:crypto'
import type { Tenant } from './organization.ts'
import type { MessageService, MessageState, MessageStatus } from './states/rmsg-message.ts'

export type RmsgMessage = Tenant &
  MessageState & {
    /** UUID, also sent to the provider. */
    id: string
    phoneNumberId: string
    conversationId: string
    /** E.164. */
    to: string
    tags: Readonly<Record<string, string>>
    createdAtMs: number
  }

export type MessageReport = { status: MessageStatus; service: MessageService }

export interface MessageStore {
  insert(message: RmsgMessage): Promise<void>
  /** Returns the message after the report. Null if there is no such message. */
  report(id: string, report: MessageReport): Promise<RmsgMessage | null>
}

/**
 * Each number pair has a fixed conversation id, so no lookup is needed: a UUID version 8 (RFC 9562) computed from both.
 */
export function conversationIdOf(phoneNumberId: string, remoteNumber: string): string {
  const bytes = createHash('sha256').update(`${phoneNumberId} ${remoteNumber}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
