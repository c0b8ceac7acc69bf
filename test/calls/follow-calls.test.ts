/** The stream of all calls, over a stub store and a test clock: its pace, its limits and its end. */
import t from 'tap'
import { createFollowCalls, type FollowedCalls } from '../../domain/calls/follow-calls.ts'
import type { CallOverview } from '../../domain/calls/store.ts'
import { settled, TestClock } from '../clock.ts'

const tenant = { organizationId: 'org_1', test: false }
/** If these calls change within a second, the client must list the calls again. */
const many = Array.from({ length: 51 }, (_, at) => `call ${at}`)

function setup() {
  const clock = new TestClock()
  const reads: (readonly string[])[] = []
  let changed: (id: string | null) => void = () => {}
  let watchers = 0
  const follow = createFollowCalls({
    clock,
    changes: {
      watch(_tenant, run) {
        watchers++
        changed = run
        return () => watchers--
      },
    },
    calls: {
      overviewsOf(_tenant, _filter, ids) {
        reads.push(ids)
        // The stub acts as if the call `other` did not match the filters. An overview needs only an id here, because
        // the stream sends it unchanged.
        return Promise.resolve(ids.filter((id) => id !== 'other').map((id) => ({ id }) as CallOverview))
      },
    },
  })
  const change = async (...ids: (string | null)[]) => {
    for (const id of ids) changed(id)
    await settled()
  }
  return { clock, follow, reads, change, watchers: () => watchers }
}

function read(followed: AsyncIterable<FollowedCalls>) {
  const seen: string[] = []
  const done = (async () => {
    for await (const each of followed)
      seen.push(each.kind === 'call' ? each.call.id : each.kind === 'gone' ? `gone ${each.id}` : each.kind)
  })()
  return { seen, done }
}

t.test('a call that changes often comes at once, and then once a second', async (t) => {
  const { clock, follow, reads, change, watchers } = setup()
  const leave = new AbortController()
  const { seen, done } = read(await follow(tenant, {}, leave.signal))
  await settled()
  t.same(seen, ['open'])
  await change('a')
  await change('a', 'other')
  await change('a', 'b')
  t.same(seen, ['open', 'a'])
  await clock.advance(999)
  t.equal(reads.length, 1)
  await clock.advance(1)
  t.same(seen, ['open', 'a', 'a', 'gone other', 'b'])
  await clock.advance(5000)
  await change('c')
  t.same(seen.slice(5), ['c'])
  leave.abort()
  await done
  t.equal(watchers(), 0)
})

t.test(
  'if more than 50 calls change within a second, or changes may be missing, the list must be read again',
  async (t) => {
    const { clock, follow, reads, change } = setup()
    const leave = new AbortController()
    const { seen, done } = read(await follow(tenant, {}, leave.signal))
    await settled()
    await change('first')
    await change(...many)
    await clock.advance(1000)
    t.same(seen, ['open', 'first', 'resync'])
    await clock.advance(10_000)
    await change(null)
    t.same(seen.slice(3), ['resync'])
    await clock.advance(1000)
    await change('later')
    t.same(seen.slice(4), ['later'])
    t.same(reads, [['first'], ['later']])
    leave.abort()
    await done
  },
)

t.test('while more than 50 calls change each second, the client lists the calls at growing intervals', async (t) => {
  const { clock, follow, change } = setup()
  const leave = new AbortController()
  const { seen, done } = read(await follow(tenant, {}, leave.signal))
  await settled()
  const busySeconds = async (count: number) => {
    for (let at = 0; at < count; at++) {
      await change(...many)
      await clock.advance(1000)
    }
  }
  await change(...many)
  for (const [at, pauseS] of [10, 20, 40, 60, 60].entries()) {
    t.same(
      seen.slice(1),
      Array.from({ length: at + 1 }, () => 'resync'),
    )
    await busySeconds(pauseS - 1)
    t.equal(seen.length, at + 2, `no event for ${pauseS} s`)
    await busySeconds(1)
  }
  leave.abort()
  await done
})

t.test("if few calls change in a pause's last second, the stream sends changed calls each second again", async (t) => {
  const { clock, follow, change } = setup()
  const leave = new AbortController()
  const { seen, done } = read(await follow(tenant, {}, leave.signal))
  await settled()
  await change(...many)
  t.same(seen, ['open', 'resync'])
  await change(...many)
  await clock.advance(9500)
  await change('late')
  await clock.advance(500)
  t.same(seen.slice(2), ['resync'], 'the changes during the pause are not lost')
  await change('next')
  await clock.advance(1000)
  t.same(seen.slice(3), ['next'])
  await change(...many)
  await clock.advance(1000)
  await change('last')
  await clock.advance(10_000)
  t.same(seen.slice(4), ['resync', 'resync'], 'the pause is 10 s again')
  await clock.advance(100_000)
  t.equal(seen.length, 6, 'nothing has changed')
  leave.abort()
  await done
})

t.test('a stream of all calls ends after ten minutes', async (t) => {
  const { clock, follow, watchers } = setup()
  const { seen, done } = read(await follow(tenant, {}, new AbortController().signal))
  await settled()
  await clock.advance(600_000)
  await done
  t.same(seen, ['open', 'end'])
  t.equal(watchers(), 0)
})

t.test(
  'of 12 event streams that follow all live calls and open at once, 8 are accepted; test calls have a separate limit',
  async (t) => {
    const { follow } = setup()
    const leave = new AbortController()
    const open = (test: boolean) => follow({ ...tenant, test }, {}, leave.signal)
    const asked = await Promise.allSettled(Array.from({ length: 12 }, () => open(false)))
    t.equal(asked.filter(({ status }) => status === 'fulfilled').length, 8)
    t.match(asked.at(-1), { reason: { data: { kind: 'too_many_at_once', limit: 'organization' } } })
    await open(true)
    leave.abort()
  },
)
