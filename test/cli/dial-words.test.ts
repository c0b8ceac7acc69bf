/** `parley dial` prints a last line after a call that has failed. */
import t from 'tap'
import { failureOf } from '../../cli/dial.ts'

const startedAt = '2026-11-25T10:00:00.000Z'

t.test('dial counts a call as reached only if it was connected', (t) => {
  const broken = failureOf({ status: 'failed', end_reason: 'pipeline_failed', started_at: startedAt })
  t.equal(broken, 'the call was connected, and broke off: failed, pipeline_failed')
  const busy = failureOf({ status: 'busy', end_reason: 'busy', started_at: null })
  t.equal(busy, 'the call did not reach anybody: busy; call again later')
  const voicemail = failureOf({ status: 'voicemail', end_reason: 'voicemail', started_at: startedAt })
  t.match(voicemail, /^the call did not reach anybody: voicemail; /)
  t.end()
})
