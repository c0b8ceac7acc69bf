import type { Call, CallEntry } from '../../domain/records/call.ts'
import { type Callback, newCallback } from '../../domain/records/callback.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { newCall, newEvent } from '../calls/call.ts'

export const hourMs = 3_600_000
export const minuteMs = 60_000

export const wanted = {
  toNumber: '+4915123456789',
  scheduledAtMs: 1_790_000_000_000,
  reason: 'Wants the price of the larger room',
  instructions: 'Have the prices of the larger room ready.',
}

export function callbackOf(call: Call, more: Partial<Callback> = {}, nowMs = Date.now()): Callback {
  return { ...newCallback(call, wanted, systemIds.callback(), nowMs), ...more }
}

export const someCallback = (more: Partial<Callback> = {}) => callbackOf(newCall('org_1'), more, 0)

/** Makes the entry that a live conversation writes for a promised callback. */
export function promised(callback: Callback): CallEntry {
  const payload = { callback_id: callback.id }
  return {
    kind: 'callback',
    event: newEvent('callback.scheduled', { payload, occurredAtMs: callback.createdAtMs }),
    callback,
  }
}
