/**
 * What every call to an OpenAI-compatible server shares: where it goes, how it is signed, and what a failure means.
 * The server's own words go into `cause`, shortened and without the key; never into a message.
 */

import type { Departure } from '../../domain/ports.ts'
import { type ErrorClass, ProviderError } from '../../domain/routing/provider-error.ts'
import type { AddressPolicy } from '../../runtime/outbound/address-guard.ts'
import type { CollectedAnswer, StreamedAnswer } from '../../runtime/outbound/exchange.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { OutboundError, type OutboundFailure } from '../../runtime/outbound/outbound-error.ts'
import { createPool } from '../../runtime/outbound/pool.ts'

export type WireOptions = {
  baseUrl: string
  apiKey: string | null
  limits: OutboundLimits
  /** Absent for what the operator configured; set for a URL that a user gave. */
  guard?: AddressPolicy
  monotonicMs: () => number
}

export type JsonObject = Record<string, unknown>
export type Payload = { contentType: string; body: string | readonly Uint8Array[] }

/** Both reject with ProviderError; a status other than 200 is one. */
export interface Wire {
  /** Answers an object that is not an error. */
  call(path: string, payload: Payload, signal: Departure): Promise<JsonObject>
  stream(path: string, payload: Payload, bytesMax: number, signal: Departure): Promise<StreamedAnswer>
  close(): Promise<void>
}

export function createWire(options: WireOptions): Wire {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/+$/, '')
  const { limits, apiKey } = options
  const pool = createPool({
    origin: base.origin,
    connectionsMax: limits.connectionsMax,
    queuedMax: limits.queuedMax,
    connectMs: limits.connectMs,
    ...(options.guard && { guard: options.guard }),
    monotonicMs: options.monotonicMs,
  })
  const signed = apiKey === null ? [] : ['authorization', `Bearer ${apiKey}`]
  const request = (
    path: string,
    payload: Payload,
    answerBytesMax: number,
    headersTimeoutMs: number,
    signal: Departure,
  ) => ({
    method: 'POST' as const,
    path: `${prefix}${path}${base.search}`,
    headers: [...signed, 'content-type', payload.contentType],
    body: payload.body,
    signal,
    headersTimeoutMs,
    bodyTimeoutMs: limits.idleMs,
    totalMs: limits.totalMs,
    answerBytesMax,
  })

  return {
    async call(path, payload, signal) {
      // A JSON answer starts when all of it is ready, so the wait for its first byte is the wait for everything.
      const whole = request(path, payload, limits.answerBytesMax, limits.totalMs, signal)
      const answer = await pool.request(whole).catch(rejectAsProviderError)
      if (answer.status !== 200) throw refusal(answer, apiKey)
      return readObject(answer.body.toString(), apiKey)
    },
    async stream(path, payload, bytesMax, signal) {
      const answer = await pool
        .stream(request(path, payload, bytesMax, limits.firstByteMs, signal))
        .catch(rejectAsProviderError)
      if (answer.status === 200 && !isJson(answer)) return answer
      const body = await readAtMost(answer.body, limits.answerBytesMax)
      if (answer.status !== 200) throw refusal({ ...answer, body }, apiKey)
      readObject(body.toString(), apiKey)
      throw new ProviderError('protocol', { sent: true, cause: 'JSON where a stream was asked for' })
    },
    close: () => pool.close(),
  }
}

/** The object in `text`, from an answer or an event. ProviderError when it is no object, or one that says `error`. */
export function readObject(text: string, apiKey: string | null): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ProviderError('protocol', { sent: true, cause: 'not JSON' })
  }
  if (!isObject(value)) throw new ProviderError('protocol', { sent: true, cause: 'not a JSON object' })
  if (!value['error']) return value
  throw new ProviderError(classOf(null, value['error']), { sent: true, cause: excerpt(text, apiKey) })
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const protocolError = (cause: unknown) => new ProviderError('protocol', { sent: true, cause })

/** Turns a failure of the engine into one of the domain; everything else is a defect of ours and stays what it is. */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const errorClass = classes[error.failure]
  return new ProviderError(error.sent || errorClass === 'cancelled' ? errorClass : 'unreachable', {
    sent: error.sent,
    cause: error,
  })
}

export function rejectAsProviderError(error: unknown): never {
  throw toProviderError(error)
}

const classes: Record<OutboundFailure, ErrorClass> = {
  unreachable: 'unreachable',
  connect_timeout: 'unreachable',
  address_refused: 'unreachable',
  queue_full: 'unreachable',
  first_byte_timeout: 'timeout',
  idle_timeout: 'timeout',
  total_timeout: 'timeout',
  cut: 'protocol',
  protocol: 'protocol',
  answer_too_large: 'protocol',
  cancelled: 'cancelled',
}

function refusal(answer: CollectedAnswer, apiKey: string | null): ProviderError {
  const text = answer.body.toString()
  const wait = retryAfterS(answer)
  return new ProviderError(classOf(answer.status, errorIn(text)), {
    sent: true,
    status: answer.status,
    ...(wait !== undefined && { retryAfterS: wait }),
    cause: excerpt(text, apiKey),
  })
}

function errorIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? (value['error'] ?? value) : null
  } catch {
    return null
  }
}

/** Codes and types only: the sentence in `message` is for people and changes. */
function classOf(status: number | null, error: unknown): ErrorClass {
  const fields = isObject(error) ? [error['code'], error['type'], error['status']] : []
  const words = fields.filter((field) => typeof field === 'string').join(' ')
  if (/quota|billing|credit|insufficient_funds/.test(words)) return 'quota'
  // Gateways report the failure of the model behind them as a number in the body of a 200 or of an event.
  const said = status ?? fields.find((field) => typeof field === 'number')
  return said === undefined ? classOfWords(words) : classOfStatus(said)
}

function classOfStatus(status: number): ErrorClass {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'quota'
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 503 || status === 529) return 'overloaded'
  if (status >= 500) return 'server'
  // Below 400 is a redirect or another success than the one agreed: the base URL does not lead to this API.
  return status >= 400 ? 'bad_request' : 'protocol'
}

function classOfWords(words: string): ErrorClass {
  if (/rate_limit/.test(words)) return 'rate_limited'
  if (/overloaded|unavailable/.test(words)) return 'overloaded'
  if (/timeout/.test(words)) return 'timeout'
  if (/authentication|permission|invalid_api_key/.test(words)) return 'auth'
  return /invalid_request/.test(words) ? 'bad_request' : 'server'
}

/** RFC 9110 §10.2.3: seconds or a date. A date is read against the answer's own Date, so that no clock has to agree. */
function retryAfterS(answer: CollectedAnswer): number | undefined {
  const text = answer.headers.get('retry-after')
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.parse(answer.headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 0), 86_400) : undefined
}

function excerpt(text: string, apiKey: string | null): string {
  const short = text.slice(0, 4096)
  return (apiKey ? short.replaceAll(apiKey, '[key]') : short).slice(0, 1024)
}

const isJson = (answer: StreamedAnswer) => answer.headers.get('content-type')?.includes('json') === true

async function readAtMost(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > bytesMax) break
    }
  } catch (error) {
    throw toProviderError(error)
  }
  return Buffer.concat(chunks)
}
