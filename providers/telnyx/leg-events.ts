/** Converts Telnyx' call events into the common form for all carriers and trunks. */
import type { ForwardingFields, LegEvent, LegEventBody } from '../../domain/ports/phone-line.ts'
import { eventTimeMs } from '../wire/event-time.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { legIdOf } from './client-state.ts'

/** Returns null if the event is not about a leg, or if a required field is missing. */
export function legEventOf({ id, occurred_at, event_type, payload }: JsonObject): LegEvent | null {
  if (!isId(id) || typeof event_type !== 'string' || !isObject(payload)) return null
  const { call_control_id: carrierLegId, client_state } = payload
  const body = bodies.get(event_type)?.(payload)
  if (!isId(carrierLegId) || !body) return null
  const occurredAtMs = eventTimeMs(occurred_at)
  if (occurredAtMs === null) return null
  return { id, occurredAtMs, carrierLegId, legId: legIdOf(client_state), ...body }
}

type ReadBody = (payload: JsonObject) => LegEventBody | null

const bodies: ReadonlyMap<string, ReadBody> = new Map(
  Object.entries<ReadBody>({
    'call.initiated': initiated,
    'call.answered': () => ({ type: 'answered' }),
    'call.bridged': () => ({ type: 'bridged' }),
    'call.hangup': hangup,
    'call.machine.detection.ended': ({ result }) =>
      isResult(result) ? { type: 'machine_detection', result } : { type: 'machine_detection', result: 'not_sure' },
    'call.dtmf.received': ({ digit }) => (isDigit(digit) ? { type: 'dtmf', digit } : null),
    'streaming.started': () => ({ type: 'stream_started' }),
    'streaming.stopped': () => ({ type: 'stream_stopped' }),
    'streaming.failed': ({ failure_reason }) => ({ type: 'stream_failed', reason: wordOf(failure_reason) }),
  }),
)

function initiated(payload: JsonObject): LegEventBody | null {
  const to = textOf(payload['to'])
  if (to === null) return null
  const direction = payload['direction'] === 'incoming' ? 'incoming' : 'outgoing'
  const from = textOf(payload['from'])
  const connectionId = textOf(payload['connection_id'])
  return {
    type: 'initiated',
    direction,
    from: isWithheld(from) ? null : from,
    to,
    ...(connectionId !== null && { connectionId }),
    forwarding: forwardingOf(payload),
  }
}

function forwardingOf(payload: JsonObject): ForwardingFields {
  return {
    forwardedFrom: textOf(payload['forwarded_from']),
    originalTo: textOf(payload['original_to']),
    redirectingNumber: textOf(payload['redirecting_number']),
    diversion: headersIn(payload, 'diversion'),
    historyInfo: headersIn(payload, 'history-info'),
    privacy: headersIn(payload, 'privacy'),
  }
}

/** Returns a header's values in the INVITE, in their order. */
function headersIn(payload: JsonObject, name: string): string[] {
  return [payload['sip_headers'], payload['custom_headers']]
    .flatMap((headers): unknown[] => (Array.isArray(headers) ? headers : []))
    .flatMap((header) =>
      isObject(header) && textOf(header['name'])?.toLowerCase() === name ? (textOf(header['value']) ?? []) : [],
    )
    .slice(0, headersMax)
}

/**
 * The maximum number of values read from one header. Each forwarding adds a value, and no call is expected to be
 * forwarded more often.
 */
const headersMax = 16

function hangup({ hangup_cause, sip_hangup_cause, hangup_source }: JsonObject): LegEventBody {
  const cause = wordOf(hangup_cause)
  const by = hangup_source === 'caller' || hangup_source === 'callee' ? hangup_source : 'unknown'
  return { type: 'hangup', sipCode: failureCode(sip_hangup_cause) ?? codesOfCauses.get(cause) ?? null, cause, by }
}

/** Returns a SIP failure code. Returns null if the code is not a failure: an answered leg ends with 200. */
function failureCode(code: unknown): number | null {
  const number = Number(textOf(code))
  return Number.isInteger(number) && number >= 300 && number < 700 ? number : null
}

/** SIP codes for Telnyx' hang-up causes, because Telnyx sends no code if it ended the leg itself. */
const codesOfCauses: ReadonlyMap<string, number> = new Map(
  Object.entries({
    call_rejected: 603,
    user_busy: 486,
    not_found: 404,
    no_answer: 480,
    timeout: 408,
    originator_cancel: 487,
  }),
)

const isWithheld = (from: string | null) =>
  from === null || /^\+?(anonymous|restricted|unavailable|unknown|withheld|private)?$/i.test(from)
/** An id's characters and length are checked, because ids are stored and used in URL paths. */
const isId = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]{1,256}$/.test(value)
const isDigit = (digit: unknown): digit is string => typeof digit === 'string' && /^[0-9A-D*#]$/.test(digit)
const isResult = (result: unknown): result is 'human' | 'machine' => result === 'human' || result === 'machine'
const textOf = (value: unknown) =>
  typeof value === 'string' && value.length <= textMax && isStorable(value) ? value : null
/** False for text that cannot be stored: Postgres refuses NUL, and a single surrogate is not valid UTF-8. */
const isStorable = (text: string) => !text.includes('\0') && !/\p{Cs}/u.test(text)
/** The longest text read. Real numbers and headers are shorter. */
const textMax = 2048

/** Returns the cause if it is one lower-case word. Other text must not be stored or logged. */
const wordOf = (value: unknown) => (typeof value === 'string' && /^[a-z_]{1,40}$/.test(value) ? value : 'unspecified')
