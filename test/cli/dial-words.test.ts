/** `parley dial` prints the events of a call, and a last line after a call that has failed. */
import t from 'tap'
import { failureOf } from '../../cli/dial.ts'
import { lineOfEvent } from '../../cli/tail-call.ts'
import type { CallEvent } from '../../generated/platform/types.ts'

const startedAt = '2026-11-25T10:00:00.000Z'

t.test('`dial` reports a call as reached only if the call was connected', (t) => {
  const broken = failureOf({ status: 'failed', end_reason: 'pipeline_failed', started_at: startedAt })
  t.equal(broken, 'the call was connected, and broke off: failed, pipeline_failed')
  const busy = failureOf({ status: 'busy', end_reason: 'busy', started_at: null })
  t.equal(busy, 'the call did not reach anybody: busy; call again later')
  const voicemail = failureOf({ status: 'voicemail', end_reason: 'voicemail', started_at: startedAt })
  t.match(voicemail, /^the call did not reach anybody: voicemail; /)
  t.end()
})

t.test('the text of a call event contains the SIP status that ended a leg of the call', (t) => {
  const event = {
    event_type: 'call.invalid_number',
    occurred_at: '2026-11-28T10:00:00.125Z',
    failure_cause: 'invalid_number',
  }
  const line = (sip_status_code: number | null, sip_status: string | null) =>
    lineOfEvent({ ...event, sip_status_code, sip_status } as CallEvent)
  t.equal(line(404, 'Not Found'), 'event   10:00:00.125  call.invalid_number  invalid_number  SIP 404 Not Found')
  t.match(line(499, null), /SIP 499$/)
  t.match(line(null, null), /invalid_number$/)
  t.end()
})
