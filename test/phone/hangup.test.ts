/**
 * Tests how a SIP response, or the phone line's hang-up cause, becomes a call's status, end reason and failure cause.
 */
import t from 'tap'
import { reasonOfHangup } from '../../domain/phone/hangup.ts'
import { endStatus, failureCause } from '../../domain/records/states/call.ts'

type End = [status: string, reason: string, cause: string]
const busy: End = ['busy', 'busy', 'busy']
const noAnswer: End = ['no_answer', 'no_answer', 'no_answer']
const declined: End = ['failed', 'declined', 'declined']
const invalid: End = ['failed', 'invalid_number', 'invalid_number']
const carrierError: End = ['failed', 'carrier_error', 'carrier_error']

const byCode: Readonly<Record<number, End>> = {
  486: busy,
  600: busy,
  408: noAnswer,
  480: noAnswer,
  487: noAnswer,
  603: declined,
  403: declined,
  404: invalid,
  484: invalid,
  604: invalid,
}

function endOf(sipCode: number | null, cause: string): (string | null)[] {
  const reason = reasonOfHangup(sipCode, cause)
  const status = endStatus('dialing', reason)
  if (endStatus('ringing', reason) !== status) throw new Error(`${reason}: not the same while it rings`)
  return [status, reason, status && failureCause(status, reason)]
}

t.test("each SIP code from 400 to 699 decides a call's status, end reason and failure cause", (t) => {
  for (let code = 400; code < 700; code++) {
    const expected = byCode[code] ?? carrierError
    // The SIP code counts even if the hang-up cause contradicts it.
    const causes = ['normal_clearing', 'user_busy', 'call_rejected', '']
    t.same(
      causes.map((cause) => endOf(code, cause)),
      causes.map(() => expected),
      String(code),
    )
  }
  t.end()
})

t.test("without a SIP refusal code the carrier's hang-up cause decides how a call ended", (t) => {
  const causes: [cause: string, end: End][] = [
    ['user_busy', busy],
    ['no_answer', noAnswer],
    ['timeout', noAnswer],
    ['originator_cancel', noAnswer],
    ['normal_clearing', noAnswer],
    ['call_rejected', declined],
    ['not_found', invalid],
    ['unspecified', carrierError],
    ['time_limit', carrierError],
    ['a cause of another carrier', carrierError],
  ]
  for (const [cause, end] of causes)
    for (const code of [null, 200, 302]) t.same(endOf(code, cause), end, `${code} ${cause}`)
  t.end()
})
