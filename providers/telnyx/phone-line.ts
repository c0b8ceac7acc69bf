/** Makes and controls call legs over Telnyx Call Control. The simulator has the same API at another base URL. */
import { type LegRef, type LineName, type PhoneLine, PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import { createHttpTransport, json, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { findActive } from './active-calls.ts'
import { clientStateOf } from './client-state.ts'
import { inTime } from './in-time.ts'
import { dialBody, rateOf, rejectCauses, streamOf } from './requests.ts'
import { telnyxLimits, telnyxWire, toLineError } from './wire.ts'

export type TelnyxLineOptions = {
  name: Exclude<LineName, 'trunk'>
  /** The API's base URL with the version, without a slash at the end. */
  baseUrl: string
  apiKey: string
  /** The Call Control application's id. */
  connectionId: string
  /** Our webhook URL for the legs' events. */
  webhookUrl: string
  /** The time limit for a command, except `dial`: its signal decides how long it waits. */
  requestMs: number
  clock: Clock
}

const never: CancelSignal = { aborted: false, reason: null, addEventListener() {}, removeEventListener() {} }

export function createTelnyxLine(options: TelnyxLineOptions): PhoneLine & { close(): Promise<void> } {
  const { baseUrl, apiKey, requestMs, clock } = options
  const limits = telnyxLimits(requestMs)
  const transport = createHttpTransport({ baseUrl, wire: telnyxWire, limits, clock })
  return { ...telnyxLineOver(transport.signedWith(apiKey), options), close: () => transport.close() }
}

export function telnyxLineOver(
  http: Pick<VendorHttp, 'get' | 'post'>,
  options: Omit<TelnyxLineOptions, 'baseUrl' | 'apiKey'>,
): PhoneLine {
  const { name, connectionId, webhookUrl } = options
  const act = (leg: LegRef, action: string, body: JsonObject) =>
    inTime(options, http.post(`${pathOf(leg)}/actions/${action}`, json(body), never))
  return {
    name,
    dial: (leg, signal) => dial(http, dialBody(leg, { connectionId, webhookUrl }), signal),
    async answer(leg, media) {
      const state = { client_state: clientStateOf(leg.legId), webhook_url: webhookUrl }
      // The `answer` command accepts no sample rate, so a stream at 16 kHz needs a separate command.
      const isPlain = media.sampleRateHz === 8000
      await act(leg, 'answer', { ...state, ...(isPlain && streamOf(media)), command_id: `${leg.legId}-answer` })
      if (isPlain) return
      await act(leg, 'streaming_start', { ...streamOf(media), ...rateOf(media), command_id: `${leg.legId}-stream` })
    },
    async reject(leg, sipCode) {
      await act(leg, 'reject', { cause: rejectCauses[sipCode], command_id: `${leg.legId}-reject` })
    },
    async hangUp(leg) {
      await act(leg, 'hangup', { command_id: `${leg.legId}-hangup` }).catch(unlessGone)
    },
    async bridge(leg, other) {
      await act(leg, 'bridge', { call_control_id: other.carrierLegId, park_after_unbridge: 'self' })
    },
    async sendDtmf(leg, digits) {
      await act(leg, 'send_dtmf', { digits })
    },
    async isAlive(leg) {
      const answer = await inTime(options, http.get(pathOf(leg), never)).catch(unlessGone)
      return dataOf(answer)['is_alive'] === true
    },
    find: (legId) => findActive(options, http, legId),
  }
}

/**
 * Dials a leg. Waits for the carrier's HTTP response until the calling code aborts the signal, because a webhook event
 * may report the leg earlier than the response. If the response comes after the abort, the leg is hung up.
 */
async function dial(
  http: Pick<VendorHttp, 'post'>,
  body: JsonObject,
  signal: CancelSignal,
): Promise<{ carrierLegId: string }> {
  if (signal.aborted) throw new PhoneLineError('unreachable', { cause: signal.reason })
  let isGivenUp = false
  const dialled = http.post('/calls', json(body), never).then((answer) => {
    const carrierLegId = dataOf(answer)['call_control_id']
    if (typeof carrierLegId !== 'string') throw new PhoneLineError('refused', { cause: new Error('no id of the leg') })
    if (isGivenUp) void hangUpLate(http, carrierLegId)
    return { carrierLegId }
  })
  return new Promise((resolve, reject) => {
    const aborted = () => {
      isGivenUp = true
      reject(new PhoneLineError('timeout', { cause: signal.reason }))
    }
    const settle = () => signal.removeEventListener('abort', aborted)
    signal.addEventListener('abort', aborted)
    dialled.finally(settle).then(resolve, (error: unknown) => reject(toLineError(error)))
  })
}

/**
 * Hangs up a leg if the response to the dial command came too late. If this fails, the leg's first event shows that the
 * leg is alive.
 */
async function hangUpLate(http: Pick<VendorHttp, 'post'>, carrierLegId: string): Promise<void> {
  await http.post(`${pathOf({ carrierLegId })}/actions/hangup`, json({}), never).catch(() => {})
}

function unlessGone(error: unknown): JsonObject {
  if (error instanceof PhoneLineError && error.isGone) return {}
  throw error
}

/** Returns the leg's URL path. Leg ids contain only characters allowed in a path segment. */
const pathOf = ({ carrierLegId }: Pick<LegRef, 'carrierLegId'>) => `/calls/${encodeURIComponent(carrierLegId)}`

function dataOf(answer: JsonObject): JsonObject {
  const { data } = answer
  return isObject(data) ? data : {}
}
