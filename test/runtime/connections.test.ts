import t from 'tap'
import { Connections } from '../../runtime/outbound/connections.ts'
import { CollectedRequest } from '../../runtime/outbound/pending-request.ts'
import { TestClock } from '../clock.ts'

const limits = {
  answerBytesMax: 1,
  deadlineMs: 1000,
  headersTimeoutMs: 1000,
  bodyTimeoutMs: 1000,
  monotonicMs: () => 0,
}

t.test('a free connection goes to the organization that has gone longest without getting one', (t) => {
  const sent: string[] = []
  const few = { connectionsMax: 2, queuedMax: 4 }
  const send = ({ owner }: { owner: string }) => void sent.push(owner)
  const connections = new Connections<{ owner: string }>(few, new TestClock(), send)
  t.teardown(() => connections.close())
  const begin = (owner: string) => {
    const pending = new CollectedRequest(
      limits,
      undefined,
      connections,
      () => {},
      () => {},
    )
    connections.begin({ owner }, pending)
    return pending
  }
  const first = begin('busy')
  const second = begin('busy')
  for (const owner of ['busy', 'other', 'busy']) begin(owner)
  t.same(sent, ['busy', 'busy'], 'two connections were free')
  connections.ended(first)
  t.same(sent.slice(2), ['other'], 'the other organization had no turn yet')
  connections.ended(second)
  t.same(sent.slice(2), ['other', 'busy'])
  t.end()
})
