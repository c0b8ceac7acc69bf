import t from 'tap'
import { Watch } from '../../runtime/timing/watch.ts'
import { TestClock } from '../clock.ts'

class Member {
  place = -1
  readonly looksMs: number[] = []
}

function setup() {
  const clock = new TestClock()
  const watch = new Watch<Member>(clock, 100, (member, nowMs) => member.looksMs.push(nowMs))
  return { clock, watch }
}

t.test('all deadlines share one timer', async (t) => {
  const { clock, watch } = setup()
  const [first, second] = [new Member(), new Member()]
  watch.add(first)
  await clock.advance(50)
  watch.add(second)
  t.equal(clock.timers, 1)
  await clock.advance(200)
  t.same(first.looksMs, [100, 200])
  t.same(second.looksMs, [100, 200])
})

t.test('the timer stops when no deadline is left, and starts again with the next deadline', async (t) => {
  const { clock, watch } = setup()
  const member = new Member()
  watch.add(member)
  watch.add(member)
  t.equal(watch.size, 1)
  watch.delete(member)
  t.equal(watch.size, 0)
  watch.delete(member)
  await clock.advance(100)
  t.same(member.looksMs, [])
  t.equal(clock.timers, 0)
  watch.add(member)
  await clock.advance(100)
  t.same(member.looksMs, [200])
})

t.test('a deadline may add and delete other deadlines while it fires', async (t) => {
  const clock = new TestClock()
  const [first, second, added] = [new Member(), new Member(), new Member()]
  const watch = new Watch<Member>(clock, 100, (member, nowMs) => {
    member.looksMs.push(nowMs)
    if (member !== first) return
    watch.delete(first)
    watch.delete(second)
    watch.add(added)
  })
  watch.add(first)
  watch.add(second)
  await clock.advance(100)
  t.same([first.looksMs, second.looksMs, added.looksMs], [[100], [], []])
  t.equal(clock.timers, 1)
  await clock.advance(100)
  t.same([first.looksMs, second.looksMs, added.looksMs], [[100], [], [200]])
})

t.test('if a deadline throws, the other deadlines are still watched', async (t) => {
  const clock = new TestClock()
  const [broken, other] = [new Member(), new Member()]
  const watch = new Watch<Member>(clock, 100, (member, nowMs) => {
    if (member === broken) throw new Error('broken')
    member.looksMs.push(nowMs)
  })
  watch.add(other)
  watch.add(broken)
  await t.rejects(clock.advance(100), /broken/)
  t.equal(clock.timers, 1)
  watch.delete(broken)
  await clock.advance(100)
  t.same(other.looksMs, [100, 200])
})

t.test('after stop no deadline fires', async (t) => {
  const { clock, watch } = setup()
  const member = new Member()
  watch.add(member)
  watch.stop()
  t.equal(clock.timers, 0)
  await clock.advance(1000)
  t.same(member.looksMs, [])
})
