/** Stores whether rich-message numbers can send text messages. */
import type { SmsStatus } from '../../domain/rmsg/sms-status.ts'
import type { Tx } from '../postgres/connect.ts'

/** Changes the status if the phone number is a rich-message number. The transaction needs the operator's rights. */
export async function writeSmsStatus(
  tx: Tx,
  { test, e164 }: { test: boolean; e164: string },
  smsStatus: SmsStatus,
  now: Date,
): Promise<void> {
  await tx`
    update rmsg_numbers set sms_status = ${smsStatus}, sms_ready_at = ${smsStatus === 'ready' ? now : null},
      updated_at = ${now}
    where test = ${test} and e164 = ${e164} and sms_status <> ${smsStatus}`
}
