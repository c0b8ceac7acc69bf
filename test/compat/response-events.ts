/** Reads the events of a streamed response in OpenAI's Responses API, and checks their names and numbers. */
import type { Test } from 'tap'
import { type Answer, readEvents } from '../router/requests.ts'

export type Response = {
  id: string
  status: string
  output: { id: string; type: string; status: string; arguments?: string }[]
}
export type Event = { type: string; sequence_number: number; response?: Response; [field: string]: unknown }

export function eventsOf(t: Test, answer: Answer): Event[] {
  t.equal(answer.status, 200, answer.text)
  t.match(answer.headers.get('content-type'), /^text\/event-stream/)
  const events = readEvents(answer.text)
  const data = events.map((event) => event.data as Event)
  t.same(
    data.map(({ type }) => type),
    events.map(({ event }) => event),
    'each event has its name in both places',
  )
  t.same(
    data.map((each) => each.sequence_number),
    data.map((_, index) => index),
  )
  return data
}
