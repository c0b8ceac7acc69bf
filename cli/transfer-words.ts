/** An event of a transfer in plain words, for the live view of a call. */
import type { CallEvent } from '../generated/platform/types.ts'
import { oneLine } from './terminal.ts'

const causes: Readonly<Record<string, string>> = {
  busy: 'the line is busy',
  no_answer: 'nobody has answered',
  declined: 'the call was declined',
  voicemail: 'a voicemail has answered',
  caller_hung_up: 'the caller has hung up',
  carrier_error: 'the line could not connect the call',
}

const fallbacks: Readonly<Record<string, string>> = {
  return_to_assistant: 'the agent goes on',
  take_message: 'the agent takes a message',
  end_call: 'the call ends',
}

/** Null: it is no event of a transfer. */
export function transferWords({
  event_type: type,
  failure_cause: cause,
  payload,
}: Pick<CallEvent, 'event_type' | 'failure_cause' | 'payload'>): string | null {
  const name = nameOf(payload)
  const isWarm = payload['kind'] === 'warm'
  switch (type) {
    case 'transfer.requested':
      return `${name} is called`
    case 'transfer.screening':
      return `${name} has answered, and is asked`
    case 'transfer.bridging':
      return isWarm ? `${name} takes the call` : `${name} has answered`
    case 'transfer.completed':
      return `${name} talks to the caller`
    case 'transfer.failed':
      return `${name} was not reached: ${causes[cause ?? ''] ?? oneLine(cause ?? 'for no known reason')}${next(payload)}`
    case 'transfer.cancelled':
      return `the call to ${name} was given up${next(payload)}`
    default:
      return null
  }
}

type Payload = CallEvent['payload']

function nameOf({ label, transfer_to: to }: Payload): string {
  const number = typeof to === 'string' ? oneLine(to) : 'the recipient'
  return typeof label === 'string' ? `${oneLine(label)} (${number})` : number
}

function next({ fallback, next_transfer_id: nextId }: Payload): string {
  if (typeof nextId === 'string') return '; the next number is called'
  if (typeof fallback !== 'object' || fallback === null || !('action' in fallback)) return ''
  const action = String(fallback.action)
  return `; ${fallbacks[action] ?? oneLine(action)}`
}
