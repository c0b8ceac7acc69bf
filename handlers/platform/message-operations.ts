/** The operations on text messages: rich messages with their conversations, and the registration for SMS. */
import type { SmsRegistrations } from '../../domain/sms/sms-registrations.ts'
import type { Repeatable } from './repeatable.ts'
import { type RmsgMessageDeps, rmsgMessageOperations } from './rmsg-messages.ts'
import { smsRegistrationOperations } from './sms-registration.ts'

export type MessageOperationDeps = { messages: RmsgMessageDeps; smsRegistrations: SmsRegistrations }

export function messageOperations({ messages, smsRegistrations }: MessageOperationDeps, repeatable: Repeatable) {
  return {
    ...rmsgMessageOperations(messages, repeatable),
    ...smsRegistrationOperations(smsRegistrations, repeatable),
  }
}
