/** A stream of a call ends after ten minutes, with a time that is handed in. */
import t from 'tap'
import { createFollowCall, type Followed } from '../../domain/calls/follow.ts'
import { newCall } from './call.ts'

t.test('a stream ends after ten minutes, and its client goes on', async (t) => {
  const call = newCall('org_1')
  let late = () => {}
  let delayMs = 0
  let watchers = 0
  const follow = createFollowCall({
    calls: { find: () => Promise.resolve(call) },
    record: { turns: () => Promise.resolve([]), events: () => Promise.resolve([]) },
    changes: { watch: () => (watchers++, () => watchers--) },
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: (ms, run) => ((late = run), (delayMs = ms), () => {}) },
  })
  const stream = await follow(call, call.id, { turn: 3, eventMs: 77 }, new AbortController().signal)
  const seen: Followed[] = []
  for await (const each of stream) {
    seen.push(each)
    if (each.kind === 'status') setImmediate(() => late())
  }
  t.equal(delayMs, 600_000)
  t.match(seen, [
    { kind: 'status', status: 'queued' },
    { kind: 'end', reason: 'timeout', position: { turn: 3, eventMs: 77 } },
  ])
  t.equal(watchers, 0)
})
