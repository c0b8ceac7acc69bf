/** Tests the message for a client if the answer from the call's process is lost. The command may have run. */
import t from 'tap'
import { Fault } from '../../domain/records/fault.ts'
import { createPlatformFaultWriter } from '../../handlers/platform/faults.ts'

const log = { info() {}, warn() {}, error() {} }
const write = createPlatformFaultWriter(log, () => {})
const said = (isKeySpent: boolean) => {
  const { status, body } = write(new Fault({ kind: 'overloaded' }, { retryAfterS: 1, isKeySpent }), 'req_1', {})
  return { status, error: (JSON.parse(body) as { error: string }).error }
}

t.test('if a command may have run, the client is advised to read the call before repeating the command', (t) => {
  t.match(said(true), { status: 503, error: /look at the call, and ask again with a new Idempotency-Key if not\.$/ })
  t.notMatch(said(true).error, /Retry after/i)
  t.end()
})

t.test('if no process received a command, the client is asked to repeat it', (t) => {
  t.match(said(false), { status: 503, error: /Retry after/i })
  t.end()
})
