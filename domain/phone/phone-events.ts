/** Passes carriers' events to this process's calls and to new calls. */
import type { LegEvent, LegEvents, LineName } from '../ports/phone-line.ts'
import type { PhoneCalls, TakeInbound } from './phone-calls.ts'

export type PhoneEvents = LegEvents & {
  /** Delivers an event received by another process, or by this process before it held the call. */
  take(legId: string, line: LineName, event: LegEvent): void
}

export function createPhoneEvents(calls: PhoneCalls, takeInbound: TakeInbound): PhoneEvents {
  return {
    received: (line, event) => calls.received(line, event, takeInbound),
    take: (legId, line, event) => calls.take(legId, line, event),
  }
}
