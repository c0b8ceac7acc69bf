import t from 'tap'
import { type Dated, Deadlines } from '../../handlers/realtime/deadlines.ts'
import { TestClock } from '../clock.ts'

function watch(lateMs = 0) {
  const clock = new TestClock()
  const deadlines = new Deadlines(clock)
  const firedMs: number[] = []
  const dated: Dated = { place: -1, due: null, onDue: () => firedMs.push(clock.monotonicMs()) }
  clock.lateMs = lateMs
  deadlines.add(dated)
  return { clock, deadlines, dated, firedMs }
}

t.test('a deadline fires within two ticks after its time, and never before', async (t) => {
  for (const waitedMs of [0, 30, 99]) {
    const { clock, deadlines, dated, firedMs } = watch()
    await clock.advance(1000 + waitedMs)
    dated.due = deadlines.after(2000)
    await clock.advance(2500)
    t.ok((firedMs[0] ?? 0) >= 3000 + waitedMs && (firedMs[0] ?? 0) <= 3200 + waitedMs, `${firedMs[0]}`)
  }
})

t.test('if the checks of a deadline are late, their delays do not add up', async (t) => {
  const { clock, deadlines, dated, firedMs } = watch(300)
  dated.due = deadlines.after(20_000)
  await clock.advance(25_000)
  t.ok((firedMs[0] ?? 0) >= 20_000 && (firedMs[0] ?? 0) <= 20_600, `${firedMs[0]}`)
})

t.test('a deadline that is moved, set to never or deleted does not fire', async (t) => {
  const { clock, deadlines, dated, firedMs } = watch()
  dated.due = deadlines.after(1000)
  await clock.advance(900)
  dated.due = deadlines.after(1000)
  await clock.advance(900)
  dated.due = null
  await clock.advance(60_000)
  t.same(firedMs, [])
  dated.due = deadlines.after(1000)
  deadlines.delete(dated)
  await clock.advance(60_000)
  t.same(firedMs, [])
  t.equal(clock.timers, 0, 'nothing to look after')
  // The timer was stopped, so the time was last read a minute ago. A deadline that is added now still gets its whole
  // time.
  deadlines.add(dated)
  dated.due = deadlines.after(1000)
  await clock.advance(990)
  t.same(firedMs, [])
  await clock.advance(300)
  t.ok(firedMs.length > 0)
})
