/**
 * Tests the transfer table under random events, over a simulated phone line. After each event the caller has exactly
 * one party: agent, hold or recipient. After the transfer no leg is left.
 */
import t from 'tap'
import type { AttemptEvent } from '../../domain/records/states/transfer.ts'
import {
  type CourseEffect,
  type CourseEvent,
  isCourseOver,
  newCourse,
  stepCourse,
} from '../../domain/transfers/plan.ts'
import { random, seed } from '../random.ts'

const sequences = 100_000
const eventsMax = 25

const attemptEvents: readonly AttemptEvent[] = [
  'answered',
  'accepted',
  'declined',
  'busy',
  'noAnswer',
  'lineFailed',
  'recipientLeft',
  'machine',
  'bridged',
  'callerLeft',
  'cancel',
  'cancelMachine',
]

/**
 * A phone line that knows nothing about the transfer table. It carries out the table's effects, and tracks the open
 * legs and the caller's party.
 */
class ModelledLine {
  caller: 'agent' | 'hold' | 'recipient' | 'gone' = 'agent'
  /** The open legs of recipients, by attempt number. */
  readonly open = new Set<number>()
  dials = 0
  fallbacks = 0
  ends = 0

  carryOut(effect: CourseEffect): void {
    switch (effect.type) {
      case 'dial':
        if (this.open.size > 0) throw new Error('two recipients are dialled at once')
        this.dials = effect.attempt
        this.open.add(effect.attempt)
        return
      case 'bridge':
        if (this.caller !== 'hold') throw new Error(`a caller who is with ${this.caller} is bridged`)
        if (!this.open.has(this.dials)) throw new Error('no leg to bridge to')
        return
      case 'handOver':
        if (this.caller !== 'hold') throw new Error(`a caller who is with ${this.caller} is handed over`)
        this.caller = 'recipient'
        return
      case 'hangUp':
        this.open.delete(this.dials)
        return
      case 'fallback':
        this.fallbacks++
        this.caller = 'agent'
        return
      case 'callOver':
        this.ends++
        this.open.clear()
        this.caller = 'gone'
        return
      case 'hold':
      case 'changed':
      case 'screen':
    }
  }
}

t.test(`${sequences} random transfers leave no caller alone and no leg open (PARLEY_TEST_SEED=${seed})`, (t) => {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  const reached = new Set<string>()

  function run(): string | null {
    const kind = pick(['warm', 'blind'] as const)
    const destinations = kind === 'blind' ? 1 : 1 + Math.floor(next() * 4)
    let course = newCourse(kind, destinations)
    const line = new ModelledLine()
    const apply = (event: CourseEvent) => {
      if (event.type === 'callerLeft') line.caller = 'gone'
      if (event.type === 'attempt' && event.event === 'recipientLeft') line.open.delete(event.attempt)
      const step = stepCourse(course, event)
      if (event.type === 'held' && step.hasEffect) line.caller = 'hold'
      if (!step.hasEffect && (step.effects.length > 0 || step.course !== course))
        throw new Error('an event without effect has one')
      course = step.course
      for (const effect of step.effects) line.carryOut(effect)
    }
    const events: string[] = []
    try {
      apply({ type: 'begin' })
      const length = Math.floor(next() * eventsMax)
      for (let i = 0; i < length; i++) {
        const event = anyEvent(next, pick, course.attempt)
        events.push(JSON.stringify(event))
        apply(event)
        const where = course.caller === 'leaving agent' ? 'agent' : course.caller
        if (where !== line.caller) return `the caller is with ${line.caller} and not with ${where}: ${events.join()}`
        if (isCourseOver(course) && line.caller !== 'recipient' && line.open.size > 0)
          return `a leg is left: ${events.join()}`
        if (line.open.size > 1) return `two legs: ${events.join()}`
        if (line.fallbacks > 1) return `two fallbacks: ${events.join()}`
        if (line.dials > destinations) return `too many are dialled: ${events.join()}`
      }
      apply({ type: 'callerLeft' })
      if (line.open.size > 0) return `a leg is left when the caller has left: ${events.join()}`
      reached.add(`${kind} ${course.status} ${line.fallbacks} ${line.ends > 0}`)
      return null
    } catch (error) {
      return `${String(error)}: ${events.join()}`
    }
  }

  const failures: string[] = []
  for (let i = 0; i < sequences && failures.length === 0; i++) {
    const failure = run()
    if (failure !== null) failures.push(failure)
  }
  t.same(failures, [])
  for (const kind of ['warm', 'blind'])
    for (const end of ['completed 0 true', 'failed 1 false', 'cancelled 1 false', 'failed 0 false'])
      t.ok(reached.has(`${kind} ${end}`), `${kind} ${end} was reached`)
  t.end()
})

function anyEvent(next: () => number, pick: <T>(list: readonly T[]) => T, attempt: number): CourseEvent {
  const which = next()
  // Sometimes the event of an earlier attempt arrives late.
  const number = next() < 0.1 ? Math.max(1, attempt - 1) : attempt
  if (which < 0.1) return { type: 'held' }
  if (which < 0.13) return { type: 'callerLeft' }
  if (which < 0.2) return { type: 'tryNext', attempt: number, event: pick(['cancel', 'cancelMachine'] as const) }
  if (which < 0.5)
    return { type: 'attempt', attempt: number, event: pick(['answered', 'accepted', 'bridged'] as const) }
  return { type: 'attempt', attempt: number, event: pick(attemptEvents.filter((event) => event !== 'callerLeft')) }
}

t.test('an event that the transfer table does not list for the current state has no effect', (t) => {
  const begun = stepCourse(newCourse('warm', 1), { type: 'begin' }).course
  for (const event of ['accepted', 'bridged'] as const)
    t.equal(stepCourse(begun, { type: 'attempt', attempt: 1, event }).hasEffect, false, event)
  t.equal(stepCourse(begun, { type: 'begin' }).hasEffect, false)
  t.end()
})
