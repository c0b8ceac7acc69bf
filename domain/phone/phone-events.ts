/** The way of the events of lines to the calls that this process holds, and to new ones. */
import type { LegEvent, LegEvents, LineName } from '../ports/phone-line.ts'
import type { PhoneCalls, TakeInbound } from './phone-calls.ts'

export type PhoneEvents = LegEvents & {
  /** An event that another process has received, or this one before it held the call. */
  take(legId: string, line: LineName, event: LegEvent): void
}

export function createPhoneEvents(calls: PhoneCalls, takeInbound: TakeInbound): PhoneEvents {
  return {
    received: (line, event) => calls.received(line, event, takeInbound),
    take: (legId, line, event) => calls.take(legId, line, event),
  }
}
