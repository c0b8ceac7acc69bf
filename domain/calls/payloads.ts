/** The bytes of events. The names in them are the contract's, so the platform surface implements it. */
import type { Call, CallEvent, Turn } from '../records/call.ts'
import type { WholeCallback } from '../records/callback.ts'
import type { Costs } from './costs.ts'
import type { CustomData, Report } from './report.ts'

/** The parts of a report. */
export type ReportedCall = {
  call: Call
  report: Report
  /** The last ones, by index. Those before them are too many for one event. */
  turns: readonly Turn[]
  turnsTotal: number
  costs: Costs
  /** The last one that was promised in the call. */
  callback: WholeCallback | null
  /** A link that needs no key. Null: there is no recording, or it is not ready. */
  recordingUrl: string | null
}

/** `nowMs` is the time at which the event is made. `customData` has the fields of one endpoint. */
export interface EventPayloads {
  preCall(call: Call, nowMs: number): Uint8Array
  status(call: Call, event: CallEvent, nowMs: number): Uint8Array
  report(reported: ReportedCall, customData: CustomData, nowMs: number): Uint8Array
  analysis(call: Call, report: Report, customData: CustomData, nowMs: number): Uint8Array
  /** The recording is ready or has failed. */
  recording(call: Call, recordingUrl: string | null, nowMs: number): Uint8Array
}
