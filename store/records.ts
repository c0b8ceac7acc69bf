/** Joins the store's repositories for calls, phone numbers, messages, recordings and webhook events. */
import type { Loop } from '../runtime/timing/loops.ts'
import { type CallRecords, createCallRecords } from './call-records.ts'
import { createRmsgRecords, type RmsgRecords } from './messages/rmsg-records.ts'
import { createSmsRecords, type SmsRecords } from './messages/sms-records.ts'
import { createNumberRecords, type NumberRecords } from './number-records.ts'
import { createPhoneRecords, type PhoneRecords } from './phone-records.ts'
import type { Pools } from './postgres/connect.ts'
import { transactionEach } from './postgres/tenant.ts'
import { createRecordingRecords, type RecordingRecords } from './recordings/recording-records.ts'
import type { RecordOptions } from './retention.ts'
import type { Sealer } from './sealing/sealed.ts'
import { createWebhookRecords, type WebhookRecords } from './webhook-records.ts'

export type Records = WebhookRecords &
  NumberRecords &
  RecordingRecords &
  CallRecords &
  PhoneRecords &
  RmsgRecords &
  SmsRecords

export type RecordParts = { records: Records; loops: readonly Loop[]; listen(): Promise<void> }

export function createRecords(
  pools: Pools,
  sealer: () => Sealer,
  instanceId: string,
  options: RecordOptions,
): RecordParts {
  const { clock, newId } = options
  const worlds = transactionEach(pools.tenant)
  const calls = createCallRecords(pools, sealer, instanceId, options)
  const webhooks = createWebhookRecords(pools, instanceId, options)
  return {
    records: {
      ...webhooks.records,
      ...calls.records,
      ...createPhoneRecords(worlds, clock, newId),
      ...createNumberRecords(worlds, sealer, clock),
      ...createSmsRecords(worlds, clock),
      ...createRmsgRecords(worlds, sealer, clock),
      ...createRecordingRecords({ worlds, clock, instanceId }),
    },
    loops: [...calls.loops, ...webhooks.loops],
    listen: async () => {
      await calls.listen()
      await webhooks.listen()
    },
  }
}
