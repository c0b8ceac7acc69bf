/**
 * Decides the course of a transfer as a pure function: its attempts, one after another, and the caller's state during
 * each.
 *
 *   agent ──► hold ──► recipient ──► gone
 *     ▲         │
 *     └─ no person was reached: the fallback, once
 *
 * The calling code reports events, and carries out the returned effects in order.
 */
import {
  type AttemptEvent,
  type FailureCause,
  isOver,
  nextAttemptState,
  type TransferStatus,
} from '../records/states/transfer.ts'
import type { TransferKind } from '../records/transfer.ts'

export type Course = {
  kind: TransferKind
  /** Counts the destinations not dialled yet. */
  left: number
  /** The newest attempt's number, from 1. It is 0 before the first attempt. */
  attempt: number
  /** The newest attempt's status. Null before the first attempt. */
  status: TransferStatus | null
  caller: 'agent' | 'leaving agent' | 'hold' | 'recipient' | 'gone'
}

export type CourseEvent =
  | { type: 'begin' }
  /** The agent's sentence is over, and the caller is on hold. */
  | { type: 'held' }
  /** An event for this attempt. If a newer attempt exists, the event has no effect. */
  | { type: 'attempt'; attempt: number; event: AttemptEvent }
  /** An API client cancels the attempt and requests the next destination. */
  | { type: 'tryNext'; attempt: number; event: 'cancel' | 'cancelMachine' }
  | { type: 'callerLeft' }

export type CourseEffect =
  /** The agent ends its sentence. Then the caller is put on hold, which is reported as `held`. */
  | { type: 'hold' }
  | { type: 'dial'; attempt: number }
  /** The attempt's status has changed. `then` is the next step if it has failed. */
  | { type: 'changed'; status: TransferStatus; cause: FailureCause | null; then: 'dial' | 'fallback' | null }
  /** The agent asks the recipient to accept the call. */
  | { type: 'screen' }
  | { type: 'bridge' }
  /** The agent leaves, and the caller talks to the recipient. */
  | { type: 'handOver' }
  /** Hangs up the recipient's leg if it is open. */
  | { type: 'hangUp' }
  /** The caller goes from the hold back to the agent. */
  | { type: 'fallback' }
  /** The call is over, because the caller or the recipient has left. */
  | { type: 'callOver' }

export type CourseStep = {
  course: Course
  effects: readonly CourseEffect[]
  /** False if the event changes nothing in this state. */
  hasEffect: boolean
}

export function newCourse(kind: TransferKind, destinations: number): Course {
  return { kind, left: destinations, attempt: 0, status: null, caller: 'agent' }
}

/** Returns true if no attempt is open. If the transfer has begun, it is then over. */
export function isCourseOver({ status }: Course): boolean {
  return status === null || isOver(status)
}

export function stepCourse(course: Course, event: CourseEvent): CourseStep {
  switch (event.type) {
    case 'begin':
      return course.attempt === 0 && course.caller === 'agent' ? begun(course) : ignored(course)
    case 'held':
      return course.caller === 'leaving agent' ? held(course) : ignored(course)
    case 'callerLeft':
      return callerLeft(course)
    case 'attempt':
      return event.attempt === course.attempt ? attempted(course, event.event) : ignored(course)
    case 'tryNext':
      return event.attempt === course.attempt ? attempted(course, event.event, true) : ignored(course)
  }
}

const ignored = (course: Course): CourseStep => ({ course, effects: [], hasEffect: false })
const stepTo = (course: Course, effects: readonly CourseEffect[]): CourseStep => ({ course, effects, hasEffect: true })

function begun(course: Course): CourseStep {
  const first = dialled({ ...course, caller: 'leaving agent' })
  return stepTo(first, [{ type: 'hold' }, { type: 'dial', attempt: 1 }])
}

function dialled(course: Course): Course {
  return { ...course, left: course.left - 1, attempt: course.attempt + 1, status: 'requested' }
}

/**
 * Puts the caller on hold. If the recipient accepted while the agent still talked to the caller, the legs are connected
 * now.
 */
function held(course: Course): CourseStep {
  const next: Course = { ...course, caller: 'hold' }
  return stepTo(next, next.status === 'bridging' ? [{ type: 'bridge' }] : [])
}

function callerLeft(course: Course): CourseStep {
  if (course.caller === 'gone') return ignored(course)
  if (course.caller === 'recipient')
    return stepTo({ ...course, caller: 'gone' }, [{ type: 'hangUp' }, { type: 'callOver' }])
  const gone: Course = { ...course, caller: 'gone' }
  if (isCourseOver(course)) return stepTo(gone, [])
  const effects = [
    { type: 'changed', status: 'failed', cause: 'caller_hung_up', then: null },
    { type: 'hangUp' },
  ] as const
  return stepTo({ ...gone, status: 'failed' }, effects)
}

function attempted(course: Course, event: AttemptEvent, triesNext = false): CourseStep {
  const { kind, status, caller } = course
  if (status === null) return ignored(course)
  // The carrier has not received the command to connect the legs yet, so the event concerns another connection.
  if (event === 'bridged' && caller !== 'hold') return ignored(course)
  if (status === 'completed' && caller === 'recipient' && event === 'recipientLeft')
    return stepTo({ ...course, caller: 'gone' }, [{ type: 'hangUp' }, { type: 'callOver' }])
  const next = nextAttemptState(kind, status, event)
  if (next === null) return ignored(course)
  const changed = { ...course, status: next.status }
  const said = { type: 'changed', status: next.status, cause: next.failureCause, then: null } as const
  switch (next.status) {
    case 'screening':
      return stepTo(changed, [said, { type: 'screen' }])
    case 'bridging':
      return stepTo(changed, caller === 'hold' ? [said, { type: 'bridge' }] : [said])
    case 'completed':
      return stepTo({ ...changed, caller: 'recipient' }, [said, { type: 'handOver' }])
    case 'requested':
    case 'failed':
    case 'cancelled':
      return over(changed, next, event === 'cancel' || event === 'cancelMachine' ? triesNext : true)
  }
}

/** Ends an attempt while the caller waits. Dials the next destination, or carries out the fallback. */
function over(
  course: Course,
  { status, failureCause: cause }: { status: TransferStatus; failureCause: FailureCause | null },
  triesNext: boolean,
): CourseStep {
  const changed = { type: 'changed', status, cause } as const
  if (triesNext && course.left > 0) {
    const next = dialled(course)
    return stepTo(next, [{ ...changed, then: 'dial' }, { type: 'hangUp' }, { type: 'dial', attempt: next.attempt }])
  }
  const back: Course = { ...course, left: 0, caller: 'agent' }
  return stepTo(back, [{ ...changed, then: 'fallback' }, { type: 'hangUp' }, { type: 'fallback' }])
}
