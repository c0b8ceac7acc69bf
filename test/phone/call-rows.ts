/** Phone calls and their events in responses of the platform API. */
import { call } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'

export type PhoneCallRow = Record<string, unknown> & {
  id: string
  status: string
  end_reason: string | null
  ended_at: string | null
  direction: string
  from: string | null
  to: string
  call_control_id: string
  transcript: {
    entries: ({ source: string; text: string; tool_calls?: unknown[] } & Record<'heard_text', string | null>)[]
  }
  report: { outcome: string } | null
  recording_status: string | null
}
export type PhoneEvent = {
  provider: string
  event_type: string
  status: string | null
  failure_cause: string | null
  sip_status_code: number | null
  payload: Record<string, unknown>
}

export const hasEnded = (row: PhoneCallRow) => row.ended_at !== null && row.report !== null

export async function eventsOf(target: Target, id: string): Promise<PhoneEvent[]> {
  return (await call(target, 'GET', `/v1/calls/${id}/events`)).json<{ events: PhoneEvent[] }>().events
}
