/** Tests work on many legs: if a leg's phone line does not answer, other legs are not delayed. */
import t from 'tap'
import { LegWork } from '../../domain/phone/leg-work.ts'
import { settled, TestClock } from '../clock.ts'
import { carrierLegId, openDesk } from './desk.ts'

const never = () => new Promise<never>(() => {})
const carriers = (id: string) => ({ id, line: 'carrier' as const, organizationId: 'org_a' })
const trunks = (id: string, organizationId: string) => ({ id, line: 'trunk' as const, organizationId })

t.test("a carrier's legs are processed in parallel up to a limit, and a leg has one task at most", async (t) => {
  const work = new LegWork(new TestClock(), { info() {}, warn() {}, error() {} })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const begin = (id: string) =>
    work.begin(carriers(id), () => {
      begun.push(id)
      return new Promise((resolve) => void ends.push(resolve))
    })
  const ids = Array.from({ length: 40 }, (_, at) => `leg_${at}`)
  for (const id of [...ids, ...ids]) begin(id)
  t.same(begun, ids.slice(0, 32))
  ends[3]?.()
  await settled()
  t.same(begun, ids.slice(0, 33), 'the next one has its turn')
  begin('leg_3')
  for (const end of ends) end()
  await settled()
  t.same(begun, [...ids, 'leg_3'], 'a leg whose work is over may be worked on again')
})

t.test('if the carrier does not answer, trunk legs are still processed, and a failure is logged', async (t) => {
  const logged: object[] = []
  const work = new LegWork(new TestClock(), { info() {}, warn() {}, error: (fields) => void logged.push(fields) })
  for (let at = 0; at < 50; at++) work.begin(carriers(`leg_${at}`), never)
  let answered = 0
  const err = new Error('a defect')
  work.begin(trunks('leg_a', 'org_a'), () => Promise.reject(err))
  work.begin(trunks('leg_b', 'org_a'), () => Promise.resolve(void answered++))
  await settled()
  t.equal(answered, 1)
  t.same(logged, [{ err, legId: 'leg_a' }])
})

t.test('if the trunks of an organization do not answer, trunks of other organizations are still served', (t) => {
  const work = new LegWork(new TestClock(), { info() {}, warn() {}, error() {} })
  for (let at = 0; at < 50; at++) work.begin(trunks(`leg_${at}`, 'org_a'), never)
  let answered = 0
  work.begin(trunks('leg_of_b', 'org_b'), () => Promise.resolve(void answered++))
  t.equal(answered, 1)
  t.end()
})

t.test('the close method waits for running leg tasks, up to a limit, and starts no further tasks', async (t) => {
  const clock = new TestClock()
  const work = new LegWork(clock, { info() {}, warn() {}, error() {} })
  const ends: (() => void)[] = []
  const begin = (id: string) => work.begin(carriers(id), () => new Promise((resolve) => void ends.push(resolve)))
  for (let at = 0; at < 40; at++) begin(`leg_${at}`)
  let isClosed = false
  const closing = work.close(1_000).then(() => {
    isClosed = true
  })
  begin('leg_late')
  for (const end of ends.slice(1)) end()
  await settled()
  t.equal(ends.length, 32, 'waiting legs are left alone')
  t.equal(isClosed, false)
  ends[0]?.()
  await closing
  t.equal(clock.timers, 0)

  const silent = new LegWork(clock, { info() {}, warn() {}, error() {} })
  silent.begin(carriers('leg_a'), never)
  const closed = silent.close(1_000)
  await clock.advance(1_000)
  await closed
})

t.test('a leg whose carrier does not answer delays neither other legs nor the search for orphaned legs', async (t) => {
  const desk = openDesk()
  await desk.dialled()
  await desk.dialled()
  const [first, second] = [...desk.legs.keys()]
  let asked = 0
  desk.steps.hangUp = () => (asked++ === 0 ? never() : Promise.resolve())
  desk.isOrphaned = true
  for (let looks = 0; looks < 4; looks++) {
    await desk.phones.hangUpOrphans()
    await settled()
  }
  t.type(desk.legs.get(second ?? '')?.endedAtMs, 'number')
  t.equal(desk.legs.get(first ?? '')?.endedAtMs, null)
  t.equal(
    desk.commands.filter((command) => command === `hangUp ${carrierLegId}`).length,
    4,
    'the leg whose line is silent is asked for once, and the other one in each look that finds it',
  )
})

t.test('if a process owns an orphaned leg again before the hang-up begins, the leg is not hung up', async (t) => {
  const desk = openDesk()
  for (let calls = 0; calls < 40; calls++) await desk.dialled()
  const answers: (() => void)[] = []
  desk.steps.hangUp = () => new Promise<void>((resolve) => void answers.push(resolve))
  desk.isOrphaned = true
  await desk.phones.hangUpOrphans()
  await desk.phones.hangUpOrphans()
  t.equal(answers.length, 32)
  desk.isOrphaned = false
  await desk.phones.hangUpOrphans()
  for (const answer of answers.splice(0)) answer()
  await settled()
  t.equal(answers.length, 0, 'the last eight are left alone')
})
