/**
 * Makes the bodies of webhook events. The API contract defines their field names, so the code for the platform API
 * implements this interface.
 */
import type { Call, CallEvent, Turn } from '../records/call.ts'
import type { WholeCallback } from '../records/callback.ts'
import type { Costs } from './costs.ts'
import type { CustomData, Report } from './report.ts'

export type ReportedCall = {
  call: Call
  report: Report
  /** The call's last turns, by index. One event cannot hold all turns of a long call. */
  turns: readonly Turn[]
  turnsTotal: number
  costs: Costs
  /** The last callback promised in the call. */
  callback: WholeCallback | null
  /** A link that works without a key. Null if there is no recording, or if it is not ready. */
  recordingUrl: string | null
}

/** `nowMs` is the event's time. `customData` has the values for one endpoint's fields. */
export interface EventPayloads {
  preCall(call: Call, nowMs: number): Uint8Array
  status(call: Call, event: CallEvent, nowMs: number): Uint8Array
  report(reported: ReportedCall, customData: CustomData, nowMs: number): Uint8Array
  analysis(call: Call, report: Report, customData: CustomData, nowMs: number): Uint8Array
  /** Makes the event for a recording that is ready or has failed. */
  recording(call: Call, recordingUrl: string | null, nowMs: number): Uint8Array
}
