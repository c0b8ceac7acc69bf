/**
 * A call's event stream: its end after ten minutes on a test clock, the limit for streams that open at once, and events
 * that are stored late.
 */
import t from 'tap'
import { createFollowCall, type FollowDeps, type Followed, type FollowPosition } from '../../domain/calls/follow.ts'
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

t.test('a stream of call events leaves out no event that is stored late, also after it is opened again', async (t) => {
  const call = newCall('org_1')
  const stored: StoredEvent[] = []
  let changed = () => {}
  const follow = createFollowCall({
    calls: { find: () => Promise.resolve(call) },
    record: {
      turns: () => Promise.resolve([]),
      events: (_tenant, _id, fromMs) => {
        const found = stored.filter(({ createdAtMs }) => createdAtMs >= fromMs)
        return Promise.resolve(found.sort((a, b) => a.occurredAtMs - b.occurredAtMs))
      },
    },
    changes: { watch: (_id, run) => ((changed = run), () => {}) },
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} },
  })
  const store = (createdAtMs: number, ...times: number[]) => {
    for (const occurredAtMs of times) stored.push({ ...newEvent('callback.cancelled', { occurredAtMs }), createdAtMs })
    changed()
  }
  /** Reads from a position until `count` events have come. Returns the times of events, and the last position. */
  const read = async (from: FollowPosition, count: number) => {
    const leave = new AbortController()
    const seen: [occurredAtMs: number, eventMs: number][] = []
    for await (const each of await follow(call, call.id, from, leave.signal)) {
      if (each.kind === 'event') seen.push([each.event.occurredAtMs, each.position.eventMs])
      if (seen.length === count) leave.abort()
      if (seen.length < count) setImmediate(() => changed())
    }
    return { seen, position: { turn: -1, eventMs: seen.at(-1)?.[1] ?? 0 } }
  }
  store(10_060, 10_050, 10_040)
  store(10_100, 60)
  const first = await read({ turn: -1, eventMs: 0 }, 3)
  t.same(
    first.seen,
    [
      [10_040, 10_060],
      [10_050, 10_060],
      [60, 10_100],
    ],
    'in the order of storage',
  )
  store(10_100, 70)
  store(20_000, 80)
  const second = await read(first.position, 3)
  t.same(
    second.seen,
    [
      [60, 10_100],
      [70, 10_100],
      [80, 20_000],
    ],
    'from the millisecond of the last event on, which the client drops by its id',
  )
  const waiting = read(second.position, 3)
  await new Promise(setImmediate)
  store(20_000, 5)
  store(20_001, 6)
  t.same(
    (await waiting).seen.map(([occurredAtMs]) => occurredAtMs),
    [80, 5, 6],
    'each once while the stream is open',
  )
})
