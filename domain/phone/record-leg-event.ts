/**
 * Writes carriers' events to their call's record. Results of answering machine detection are left out, because the code
 * that acts on such a result records it.
 */
import type { PhoneLog } from '../calls/journal.ts'
import type { LegEvent } from '../ports/phone-line.ts'

/** `details` are added to the event `carrier.initiated`. */
export function recordLegEvent(record: PhoneLog, event: LegEvent, details: Record<string, unknown>): void {
  switch (event.type) {
    case 'machine_detection':
      return
    case 'initiated':
      return record.line('carrier.initiated', details)
    case 'hangup':
      return record.line('carrier.hangup', { cause: event.cause, by: event.by }, event.sipCode)
    case 'stream_failed':
      return record.line('carrier.stream_failed', { reason: event.reason })
    case 'ringing':
    case 'answered':
    case 'bridged':
    case 'dtmf':
    case 'stream_started':
    case 'stream_stopped':
      return record.line(`carrier.${event.type}`, {})
  }
}
