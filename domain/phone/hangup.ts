/** Maps an unanswered call's hangup to an end reason, by the SIP code or otherwise by the carrier's hangup cause. */
import type { EndReason } from '../records/states/call.ts'

const byCode: Readonly<Record<number, EndReason>> = {
  486: 'busy',
  600: 'busy',
  408: 'no_answer',
  480: 'no_answer',
  487: 'no_answer',
  403: 'declined',
  603: 'declined',
  404: 'invalid_number',
  484: 'invalid_number',
  604: 'invalid_number',
}

const byCause: Readonly<Record<string, EndReason>> = {
  user_busy: 'busy',
  no_answer: 'no_answer',
  timeout: 'no_answer',
  originator_cancel: 'no_answer',
  normal_clearing: 'no_answer',
  call_rejected: 'declined',
  not_found: 'invalid_number',
}

/** SIP status codes below this are not refusals. */
const refusalLeast = 400

export function reasonOfHangup(sipCode: number | null, cause: string): EndReason {
  if (sipCode !== null && sipCode >= refusalLeast) return byCode[sipCode] ?? 'carrier_error'
  return byCause[cause] ?? 'carrier_error'
}
