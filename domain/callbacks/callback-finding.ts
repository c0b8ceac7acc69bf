/** Reads from a call's analysis whether the user asked for a callback that the agent did not schedule. */
import type { CallbackRequest } from '../records/callback.ts'
import type { Pipeline } from '../records/pipeline.ts'
import { type CallbackRules, daysAheadDefault, readCallbackRequest } from './callback-request.ts'

const nullable = (type: string, description: string) => ({ type: [type, 'null'], description })
const properties = {
  at: nullable('string', 'The time of the call with its offset from UTC, such as 2026-11-22T09:30:00+01:00.'),
  to: nullable(
    'string',
    'The phone number that the user gave, in E.164, such as +12025550143. null in a call by phone: the number of that call.',
  ),
  reason: nullable('string', 'What the call is about, in at most 300 characters.'),
  instructions: nullable('string', 'What to know or to do in the call.'),
}

export const callbackFindingSchema = {
  type: ['object', 'null'],
  description:
    'null unless the user asked to be called back, and gave a time, and a phone number or one in a call by phone.',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
} as const

/** Returns how many days ahead the agent may schedule a callback. Returns null if it may not schedule callbacks. */
export function daysAheadOf({ tools }: Pick<Pipeline, 'tools'>): number | null {
  for (const { source } of tools)
    if (source.kind === 'builtin' && source.name === 'schedule_callback')
      return source.config?.maxDaysAhead ?? daysAheadDefault
  return null
}

/** Makes a text line with the current time for an LLM. The time is local, because users speak about local times. */
export function clockFor({ timezone }: Pick<Pipeline, 'timezone'>, nowMs: number): string {
  const local = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'full', timeStyle: 'long' })
  return `It is now ${new Date(nowMs).toISOString()}. In ${timezone} that is ${local.format(nowMs)}.`
}

/** Returns null if the user did not ask for a callback, or if the rules do not allow the callback. */
export function readCallbackFinding(answer: unknown, rules: CallbackRules): CallbackRequest | null {
  if (typeof answer !== 'object' || answer === null) return null
  const read = readCallbackRequest(answer, rules)
  return 'request' in read ? read.request : null
}
