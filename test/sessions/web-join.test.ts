/** Tests requests to join a call whose process answers, or does not answer any more. */
import t from 'tap'
import type { JoinState } from '../../domain/calls/live-calls.ts'
import { createWebJoin } from '../../domain/sessions/web-join.ts'
import { newCall } from '../calls/call.ts'
import { bench, caller } from '../domain/fakes.ts'
import { failure } from './setup.ts'

const here: JoinState = { isHere: true, isFull: false, isHandedOver: false, nodeUrl: null }

/** Requests to join a call during a transfer. Rejects with the refusal. */
function join(state: JoinState | null) {
  const webJoin = createWebJoin({
    calls: { find: () => Promise.resolve(newCall('org_1', { status: 'transferring' })) },
    live: { joinState: () => Promise.resolve(state) },
    tokens: { mint: () => 'token' },
    clock: bench([]).clock,
    identity: () => 'join_1',
  })
  return webJoin(caller(), 'a call', null, 'http://localhost')
}

t.test("a join during a transfer is refused by the state of the call's process", async (t) => {
  t.match(await failure(join(here)), { data: { kind: 'call_not_live', because: 'transferring' } })
  t.match(await failure(join({ ...here, isHere: false })), { data: { kind: 'call_not_live' } }, 'the call is over')
  const handedOver = join({ ...here, isHere: false, isHandedOver: true })
  t.match(await failure(handedOver), { data: { kind: 'call_not_live', because: 'with_recipient' } })
  t.match(await failure(join(null)), { data: { kind: 'overloaded' } }, 'the process does not answer')
})
