/** Describes a transfer event in plain words, for a call's live view. */
import type { CallEvent } from '../generated/platform/types.ts'
import { oneLine } from './terminal.ts'

const causes: Readonly<Record<string, string>> = {
  busy: 'the line is busy',
  no_answer: 'nobody answered, or the person did not decide in time',
  declined: 'the recipient did not accept the call',
  voicemail: 'a voicemail has answered',
  caller_hung_up: 'the caller has hung up',
  carrier_error: 'the line could not connect the call',
}

const fallbacks: Readonly<Record<string, string>> = {
  return_to_assistant: 'the agent goes on',
  take_message: 'the agent takes a message',
  end_call: 'the call ends',
}

type TransferEvent = Pick<CallEvent, 'event_type' | 'failure_cause' | 'payload'>

const words: Readonly<Partial<Record<CallEvent['event_type'], (name: string, event: TransferEvent) => string>>> = {
  'transfer.requested': (name) => `${name} is called`,
  'transfer.screening': (name) => `${name} has answered, and is asked`,
  'transfer.bridging': (name, { payload: { kind } }) =>
    kind === 'warm' ? `${name} takes the call` : `${name} has answered`,
  'transfer.completed': (name) => `${name} talks to the caller`,
  'transfer.failed': (name, { failure_cause: cause, payload }) =>
    `${name} did not take the call: ${causes[cause ?? ''] ?? oneLine(cause ?? 'for no known reason')}${next(payload)}`,
  'transfer.cancelled': (name, { payload }) => `the call to ${name} was given up${next(payload)}`,
}

/** Returns the words for a transfer event. Null for other events. */
export function transferWords(event: TransferEvent): string | null {
  return words[event.event_type]?.(nameOf(event.payload), event) ?? null
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
