/** A call's event stream ends after ten minutes, in injected time. */
import t from 'tap'
import { createFollowCall, type FollowDeps, type Followed } from '../../domain/calls/follow.ts'
import type { StoredEvent } from '../../domain/calls/store.ts'
import { newCall, newEvent } from './call.ts'

t.test('a stream of call events ends after ten minutes, and its client continues with a new stream', async (t) => {
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

t.test('if 40 streams of call events open at once, only 32 are accepted', async (t) => {
  const call = newCall('org_1')
  const deps: FollowDeps = {
    calls: { find: () => Promise.resolve(call) },
    record: { turns: () => Promise.resolve([]), events: () => Promise.resolve([]) },
    changes: { watch: () => () => {} },
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} },
  }
  const follow = createFollowCall(deps)
  const open = ({ signal }: AbortController) => follow(call, call.id, { turn: -1, eventMs: 0 }, signal)
  const leaving = Array.from({ length: 40 }, () => new AbortController())
  const asked = await Promise.allSettled(leaving.map(open))
  t.equal(asked.filter(({ status }) => status === 'fulfilled').length, 32)
  t.match(asked.at(-1), { reason: { data: { kind: 'too_many_at_once', limit: 'session' } } })
  for (const client of leaving) client.abort()
  await open(new AbortController())
  const [first] = asked
  if (first?.status === 'fulfilled') for await (const each of first.value) t.fail(`${each.kind} after it was left`)
  const again = Array.from({ length: 32 }, () => open(new AbortController()))
  t.equal((await Promise.allSettled(again)).filter(({ status }) => status === 'fulfilled').length, 31)
})

t.test('a stream of call events includes an event that another process stored after a newer event', async (t) => {
  const call = newCall('org_1')
  const stored: StoredEvent[] = []
  const asked: number[] = []
  let changed = () => {}
  const follow = createFollowCall({
    calls: { find: () => Promise.resolve(call) },
    record: {
      turns: () => Promise.resolve([]),
      events: (_tenant, _id, fromMs) => {
        asked.push(fromMs)
        const found = stored.filter(({ occurredAtMs }) => occurredAtMs >= fromMs)
        return Promise.resolve(found.sort((a, b) => a.occurredAtMs - b.occurredAtMs))
      },
    },
    changes: { watch: (_id, run) => ((changed = run), () => {}) },
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} },
  })
  const store = (occurredAtMs: number) => {
    stored.push({ ...newEvent('callback.cancelled', { occurredAtMs }), createdAtMs: 0 })
    changed()
  }
  const leave = new AbortController()
  const stream = await follow(call, call.id, { turn: -1, eventMs: 9000 }, leave.signal)
  const seen: number[] = []
  const times = [10_050, 10_000, 10_050, 13_000, 11_000, 10_999, 8_999]
  const write = async () => {
    for (const time of times) {
      store(time)
      for (let ticks = 0; ticks < 5; ticks++) await new Promise(setImmediate)
    }
    leave.abort()
  }
  const written = write()
  for await (const each of stream) {
    if (each.kind !== 'event') continue
    seen.push(each.event.occurredAtMs)
    t.equal(each.position.eventMs, Math.max(...seen), 'the cursor never goes back')
  }
  await written
  t.same(seen, [10_050, 10_000, 10_050, 13_000, 11_000], 'each once, and up to 2 s late')
  t.ok(
    asked.every((fromMs) => fromMs >= 9000),
    'none from before the cursor',
  )
})
