import t from 'tap'
import { Loops } from '../../runtime/timing/loops.ts'
import { settled, TestClock } from '../clock.ts'

function setup() {
  const clock = new TestClock()
  const lines: { fields: object; message: string }[] = []
  const loops = new Loops(clock, { warn: (fields, message) => lines.push({ fields, message }) })
  return { clock, loops, lines }
}

/** Makes a background loop whose runs end only when the test ends them. */
function heldRun() {
  const runs: PromiseWithResolvers[] = []
  const run = () =>
    new Promise<void>((resolve, reject) => {
      runs.push({ resolve, reject })
    })
  return { run, runs }
}
type PromiseWithResolvers = { resolve: () => void; reject: (error: Error) => void }

t.test('a loop runs once per period, and its runs never overlap', async (t) => {
  const { clock, loops } = setup()
  const { run, runs } = heldRun()
  loops.start({ name: 'sweep', everyMs: 1000, run })
  t.equal(runs.length, 0)
  await clock.advance(1000)
  t.equal(runs.length, 1)
  await clock.advance(5000)
  t.equal(runs.length, 1, 'the first run has not ended')
  runs[0]?.resolve()
  await settled()
  await clock.advance(999)
  t.equal(runs.length, 1)
  await clock.advance(1)
  t.equal(runs.length, 2)
})

t.test("a failed run is logged with the loop's name, and the loop goes on", async (t) => {
  const { clock, loops, lines } = setup()
  let runs = 0
  loops.start({
    name: 'thrown',
    everyMs: 1000,
    run: () => {
      runs++
      throw new Error('thrown before the first await')
    },
  })
  loops.start({ name: 'rejected', everyMs: 1000, run: () => Promise.reject(new Error('rejected')) })
  await clock.advance(2000)
  t.equal(runs, 2)
  t.same(
    lines.map(({ fields }) => (fields as { loop: string }).loop),
    ['thrown', 'rejected', 'thrown', 'rejected'],
  )
  t.match(lines[0], { fields: { err: Error }, message: 'a background loop failed; it runs again' })
})

t.test('two loops cannot have the same name', async (t) => {
  const { clock, loops } = setup()
  const { run } = heldRun()
  const loop = { name: 'sweep', everyMs: 1000, run }
  loops.start(loop)
  t.throws(() => loops.start(loop), /two loops named sweep/)
  await clock.advance(1000)
  t.throws(() => loops.start(loop), /two loops named sweep/)
})

t.test('stop starts no further run and waits for the current run', async (t) => {
  const { clock, loops, lines } = setup()
  const { run, runs } = heldRun()
  const idle = heldRun()
  loops.start({ name: 'busy', everyMs: 1000, run })
  loops.start({ name: 'idle', everyMs: 2000, run: idle.run })
  await clock.advance(1000)
  let isStopped = false
  const stopped = loops.stop(5000).then(() => {
    isStopped = true
  })
  await clock.advance(2000)
  t.notOk(isStopped)
  runs[0]?.reject(new Error('the pool is closing'))
  await stopped
  t.equal(clock.timers, 0)
  t.same([runs.length, idle.runs.length], [1, 0])
  t.same(lines, [], 'failures after stop are expected')
  t.throws(() => loops.start({ name: 'late', everyMs: 1, run }), /stopped/)
})

t.test('stop waits for a limited time, and names the loop that still runs', async (t) => {
  const { clock, loops, lines } = setup()
  const { run } = heldRun()
  loops.start({ name: 'stuck', everyMs: 1000, run })
  await clock.advance(1000)
  const stopped = loops.stop(5000)
  await clock.advance(5000)
  await stopped
  t.match(lines, [{ fields: { loop: 'stuck', waitMs: 5000 }, message: 'a background loop did not end in time' }])
})
