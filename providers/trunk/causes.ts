/**
 * Returns the cause for a leg's end, as `PhoneLine` names it. The Reason header's telephone network cause (Q.850) is
 * preferred to the SIP code.
 */
import { type Header, valuesOf } from './message.ts'

const byCause: Readonly<Record<string, string>> = {
  1: 'not_found',
  16: 'normal_clearing',
  17: 'user_busy',
  18: 'no_answer',
  19: 'no_answer',
  21: 'call_rejected',
}
const byCode: Readonly<Record<number, string>> = {
  403: 'call_rejected',
  404: 'not_found',
  408: 'timeout',
  480: 'no_answer',
  484: 'not_found',
  486: 'user_busy',
  487: 'originator_cancel',
  600: 'user_busy',
  603: 'call_rejected',
  604: 'not_found',
}

export function causeOf(headers: readonly Header[], code: number | null): string {
  const number = valuesOf(headers, 'reason')
    .map((reason) => /^Q\.850\b.*;[ \t]*cause[ \t]*=[ \t]*(\d{1,3})/i.exec(reason)?.[1])
    .find((cause) => cause !== undefined)
  const named = number === undefined ? undefined : byCause[number]
  return named ?? (code === null ? 'normal_clearing' : (byCode[code] ?? 'unspecified'))
}
