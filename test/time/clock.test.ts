import t from 'tap'
import { settled, TestClock } from '../clock.ts'

t.test('timers fire in the order of their times, and each at its time', async (t) => {
  const clock = new TestClock()
  const fired: [string, number][] = []
  const note = (name: string) => () => void fired.push([name, clock.monotonicMs()])
  clock.after(30, note('c'))
  clock.after(10, note('a'))
  const cancel = clock.after(20, note('cancelled'))
  clock.after(10, () => clock.after(15, note('b')))
  cancel()
  await clock.advance(40)
  t.same(fired, [
    ['a', 10],
    ['b', 25],
    ['c', 30],
  ])
  t.equal(clock.monotonicMs(), 40)
})

t.test('all work that a timer causes is done before the next timer fires', async (t) => {
  const clock = new TestClock()
  const steps: string[] = []
  clock.after(10, () => void settled().then(() => steps.push('follows')))
  clock.after(10, () => void steps.push('next'))
  await clock.advance(10)
  t.same(steps, ['follows', 'next'])
})

t.test('`TestClock.until` resolves when its condition is true, and rejects after its time limit', async (t) => {
  const clock = new TestClock()
  let count = 0
  const tick = () => {
    count++
    clock.after(10, tick)
  }
  tick()
  await clock.until('three', () => count === 3)
  t.equal(clock.monotonicMs(), 20)
  await clock.until('five', () => Promise.resolve(count >= 5))
  await t.rejects(
    clock.until('never', () => false, 100),
    { message: /not in time: never/ },
  )
  await t.rejects(
    clock.until('never', () => Promise.resolve(false), 100),
    { message: /not in time: never/ },
  )
})

t.test('if several tasks wait, the test clock moves only while all of them wait', async (t) => {
  const clock = new TestClock()
  const seen: number[] = []
  const first = clock.advance(10).then(() => {
    seen.push(clock.monotonicMs())
    return clock.advance(10)
  })
  const work = new Promise<string>((resolve) => void clock.after(15, () => resolve('done')))
  t.equal(await clock.during(work), 'done')
  t.equal(clock.monotonicMs(), 15)
  await first
  t.same([...seen, clock.monotonicMs()], [10, 20])
})

t.test('if a timer throws, the wait for the test clock fails', async (t) => {
  const clock = new TestClock()
  clock.after(5, () => {
    throw new Error('broken')
  })
  await t.rejects(clock.advance(10), { message: 'broken' })
})

t.test('a clock that jumps forward runs each late timer once, in order', (t) => {
  const clock = new TestClock()
  const fired: [string, number][] = []
  const note = (name: string) => () => {
    fired.push([name, clock.monotonicMs()])
    clock.after(1, note(`${name} again`))
  }
  const cancel = clock.after(20, note('cancelled'))
  clock.after(10, () => {
    note('a')()
    cancel()
  })
  clock.after(5, note('b'))
  clock.pass(20)
  t.same(fired, [
    ['b', 20],
    ['a', 20],
  ])
  t.equal(clock.timers, 2)
  t.end()
})
