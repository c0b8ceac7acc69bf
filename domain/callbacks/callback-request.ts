/** Reads the LLM's arguments for `schedule_callback`. */
import type { Call } from '../records/call.ts'
import type { CallbackRequest } from '../records/callback.ts'
import type { PipelineTool, SessionTransport } from '../records/pipeline.ts'
import { charactersOf } from '../speech/characters.ts'

/** How many days ahead a callback may be scheduled if the tool's configuration sets no limit. */
export const daysAheadDefault = 7
const leastAheadMs = 60_000
const dayMs = 86_400_000
const reasonCharactersMax = 500
const instructionsCharactersMax = 8192

/**
 * The parameters of the tool. Exactly one of `at` and `inMinutes` is required, but vendors' schemas cannot express
 * this.
 */
const callbackParameters = {
  type: 'object',
  properties: {
    inMinutes: { type: 'number', description: 'The minutes from now until the call. Give either this or at.' },
    at: {
      type: 'string',
      description: 'The time of the call with its offset from UTC, such as 2026-11-22T09:30:00+01:00.',
    },
    to: { type: 'string', description: 'The phone number to call, with the country code, such as +12025550143.' },
    reason: { type: 'string', maxLength: reasonCharactersMax, description: 'What the call is about.' },
    instructions: {
      type: 'string',
      maxLength: instructionsCharactersMax,
      description: 'What to know or to do in the call.',
    },
  },
  required: ['to'],
} as const

/** In a phone call, `to` is not required, because the person's number is known. */
export function callbackParametersOf(transport: SessionTransport): PipelineTool['parameters'] {
  return transport === 'phone' ? { ...callbackParameters, required: [] } : callbackParameters
}

/**
 * Returns the person's number in a phone call. Returns null if the number is withheld, or if the session runs in a
 * browser.
 */
export function numberOfPerson({ phone }: Pick<Call, 'phone'>): string | null {
  if (phone === null) return null
  return phone.direction === 'inbound' ? phone.from : phone.to
}

export type CallbackRules = {
  nowMs: number
  maxDaysAhead: number
  /** The number to call if the arguments contain no number. */
  defaultTo: string | null
  /** Returns true if an E.164 text can be a phone's number. */
  isPhoneNumber: (text: string) => boolean
}

export type ReadCallback =
  | { request: CallbackRequest }
  /** The names of the arguments with an invalid value. */
  | { wrong: readonly string[] }
  | { notAllowed: string }

/** Checks every argument again. The arguments match the tool's schema, but a client may have written the schema. */
export function readCallbackRequest(args: unknown, rules: CallbackRules): ReadCallback {
  const { nowMs, maxDaysAhead, defaultTo, isPhoneNumber } = rules
  const given = (typeof args === 'object' && args !== null ? args : {}) as Record<string, unknown>
  const scheduledAtMs = timeOf(given, nowMs)
  const reason = textOf(given['reason'], reasonCharactersMax)
  const instructions = textOf(given['instructions'], instructionsCharactersMax)
  const to = given['to'] ?? defaultTo
  const toNumber = typeof to === 'string' && /^\+[1-9]\d{6,14}$/.test(to) && isPhoneNumber(to) ? to : undefined
  if (scheduledAtMs === undefined || toNumber === undefined || reason === undefined || instructions === undefined)
    return {
      wrong: [
        ...(scheduledAtMs === undefined ? ['at', 'inMinutes'] : []),
        ...(toNumber === undefined ? ['to'] : []),
        ...(reason === undefined ? ['reason'] : []),
        ...(instructions === undefined ? ['instructions'] : []),
      ],
    }
  const aheadMs = scheduledAtMs - nowMs
  if (aheadMs < leastAheadMs || aheadMs > maxDaysAhead * dayMs)
    return { notAllowed: `the time must be 1 minute to ${maxDaysAhead} days ahead` }
  return { request: { toNumber, scheduledAtMs, reason, instructions } }
}

/**
 * Returns the requested time. Returns undefined if the arguments contain no valid time, or both `at` and `inMinutes`.
 */
function timeOf({ at, inMinutes }: Record<string, unknown>, nowMs: number): number | undefined {
  if ((at ?? null) !== null && (inMinutes ?? null) !== null) return undefined
  if (typeof inMinutes === 'number' && Number.isFinite(inMinutes)) return Math.round(nowMs + inMinutes * 60_000)
  return typeof at === 'string' ? instantOf(at) : undefined
}

const instant = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i

function instantOf(text: string): number | undefined {
  const date = instant.exec(text)?.[1]
  const ms = Date.parse(text)
  if (date === undefined || Number.isNaN(ms)) return undefined
  // The date is compared, because Date reads 30 February as 2 March.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date) ? ms : undefined
}

/** Returns null if the value is absent. Returns undefined if the value is not a string or is too long. */
function textOf(value: unknown, charactersMax: number): string | null | undefined {
  if (value === undefined || value === null || value === '') return null
  return typeof value === 'string' && charactersOf(value) <= charactersMax ? value : undefined
}
