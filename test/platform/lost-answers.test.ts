/**
 * Tests the response for a client whose request may have taken effect, for example if another process's answer is lost.
 */
import t from 'tap'
import { Fault } from '../../domain/records/fault.ts'
import { createPlatformFaultWriter } from '../../handlers/platform/faults.ts'

const log = { info() {}, warn() {}, error() {} }
const write = createPlatformFaultWriter(log, () => {})
const said = (isKeySpent: boolean) => {
  const fault = new Fault({ kind: 'overloaded' }, { retryAfterS: 1, isKeySpent })
  const { status, headers, body } = write(fault, 'req_1', {})
  return { status, repeats: headers['x-should-retry'], error: (JSON.parse(body) as { error: string }).error }
}

t.test('if a command to another process may have run, the client is advised to check before repeating it', (t) => {
  const error = /look whether it was, and ask again with a new Idempotency-Key if not\.$/
  t.match(said(true), { status: 503, repeats: 'false', error })
  t.notMatch(said(true).error, /Retry after/i)
  t.end()
})

t.test('if no process received a command, the client is asked to repeat the request', (t) => {
  t.match(said(false), { status: 503, repeats: undefined, error: /Retry after/i })
  t.end()
})
