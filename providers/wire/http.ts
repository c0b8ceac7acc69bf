/**
 * Calls to one vendor over HTTP: where they go, how they are signed, and what a failure means. What differs between vendors is a `Dialect`; the
 * vendor's own words go into `cause`, shortened and without the key, never into a message.
 */

import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { AddressPolicy } from '../../runtime/outbound/address-guard.ts'
import type { CollectedAnswer, StreamedAnswer } from '../../runtime/outbound/exchange.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { createPool, type OutboundRequest } from '../../runtime/outbound/pool.ts'
import {
  classOfStatus,
  excerpt,
  isObject,
  type JsonObject,
  protocolError,
  rejectAsProviderError,
  toProviderError,
} from './failures.ts'

/** How one vendor signs and how it refuses. */
export type Dialect = {
  /** Header names and values in turn. */
  sign: (apiKey: string) => readonly string[]
  /** What a refusal means by the vendor's own codes (never by its sentences); null: the status decides. `body` is null where it is no JSON object. */
  classify: (status: number, body: JsonObject | null) => ErrorClass | null
  /** A failure inside an answer that says 200. Absent: this vendor has none. */
  failureIn?: (body: JsonObject) => ErrorClass | null
  /** Seconds to wait by the body of a refusal, where a vendor says it there and not in Retry-After. */
  retryAfterIn?: (body: JsonObject) => number | undefined
}

export type TransportOptions = {
  /** With the path that all calls share. */
  baseUrl: string
  dialect: Dialect
  limits: OutboundLimits
  /** Absent for what the operator configured; set for a URL that a user gave. */
  guard?: AddressPolicy
  monotonicMs: () => number
}

export type Payload = { contentType: string; body: string | readonly Uint8Array[] }

/** All reject with ProviderError; a status other than 200 and 201 is one. Paths begin with a slash and may carry a query. */
export interface Wire {
  /** POST. Answers the object that came. */
  call(path: string, payload: Payload, signal: CancelSignal): Promise<JsonObject>
  get(path: string, signal: CancelSignal): Promise<JsonObject>
  /** DELETE; what is answered does not matter. */
  remove(path: string, signal: CancelSignal): Promise<void>
  /** POST. JSON where a stream was asked for is an error. */
  stream(path: string, payload: Payload, bytesMax: number, signal: CancelSignal): Promise<StreamedAnswer>
}

/** The connections to one vendor, shared by all its keys. */
export interface Transport {
  /** `apiKey` null: calls are not signed. Cheap; nothing to close. */
  wire(apiKey: string | null): Wire
  close(): Promise<void>
}

const jsonType = 'application/json'
export const json = (body: JsonObject): Payload => ({ contentType: jsonType, body: JSON.stringify(body) })

export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/+$/, '')
  const { limits, dialect } = options
  const pool = createPool({
    origin: base.origin,
    connectionsMax: limits.connectionsMax,
    queuedMax: limits.queuedMax,
    connectMs: limits.connectMs,
    ...(options.guard && { guard: options.guard }),
    monotonicMs: options.monotonicMs,
  })
  return {
    wire: (apiKey) => {
      const signed = apiKey === null ? [] : dialect.sign(apiKey)
      // Made once: nearly all calls send JSON.
      const signedJson = [...signed, 'content-type', jsonType]
      const headersOf = (payload: Payload | null) => {
        if (payload === null) return signed
        return payload.contentType === jsonType ? signedJson : [...signed, 'content-type', payload.contentType]
      }
      const request = (
        method: OutboundRequest['method'],
        path: string,
        payload: Payload | null,
        answerBytesMax: number,
        headersTimeoutMs: number,
        signal: CancelSignal,
      ): OutboundRequest => ({
        method,
        path: `${prefix}${path}${base.search}`,
        headers: headersOf(payload),
        body: payload === null ? '' : payload.body,
        signal,
        headersTimeoutMs,
        bodyTimeoutMs: limits.idleMs,
        totalMs: limits.totalMs,
        answerBytesMax,
      })
      const accepted = (answer: CollectedAnswer): CollectedAnswer => {
        if (isSuccess(answer.status)) return answer
        throw refusal(answer, dialect, apiKey)
      }
      const read = (answer: CollectedAnswer) => readAnswer(accepted(answer).body.toString(), dialect, apiKey)
      // A JSON answer starts when all of it is ready, so the wait for its first byte is the wait for everything.
      const collect = (
        method: OutboundRequest['method'],
        path: string,
        payload: Payload | null,
        signal: CancelSignal,
      ): Promise<CollectedAnswer> =>
        pool.request(request(method, path, payload, limits.answerBytesMax, limits.totalMs, signal))
      return {
        call: (path, payload, signal) => collect('POST', path, payload, signal).then(read, rejectAsProviderError),
        get: (path, signal) => collect('GET', path, null, signal).then(read, rejectAsProviderError),
        remove: (path, signal) =>
          collect('DELETE', path, null, signal).then((answer) => void accepted(answer), rejectAsProviderError),
        async stream(path, payload, bytesMax, signal) {
          const answer = await pool
            .stream(request('POST', path, payload, bytesMax, limits.firstByteMs, signal))
            .catch(rejectAsProviderError)
          if (isSuccess(answer.status) && !isJson(answer)) return answer
          const body = await readAtMost(answer.body, limits.answerBytesMax)
          if (!isSuccess(answer.status)) throw refusal({ ...answer, body }, dialect, apiKey)
          readAnswer(body.toString(), dialect, apiKey)
          throw protocolError('JSON where a stream was asked for')
        },
      }
    },
    close: () => pool.close(),
  }
}

/** The object in `text`, from an answer or an event. ProviderError when it is none, or one that tells of a failure. */
export function readAnswer(text: string, dialect: Dialect, apiKey: string | null): JsonObject {
  const body = parsed(text)
  if (body === null) throw protocolError('not a JSON object')
  const errorClass = dialect.failureIn?.(body) ?? null
  if (errorClass === null) return body
  throw new ProviderError(errorClass, { sent: true, cause: excerpt(text, apiKey) })
}

const isSuccess = (status: number) => status === 200 || status === 201

/** A vendor that refused, before an answer or before a socket opened. */
export function refusal(answer: CollectedAnswer, dialect: Dialect, apiKey: string | null): ProviderError {
  const text = answer.body.toString()
  const body = parsed(text)
  const wait = bounded(retryAfter(answer) ?? (body ? dialect.retryAfterIn?.(body) : undefined))
  return new ProviderError(dialect.classify(answer.status, body) ?? classOfStatus(answer.status), {
    sent: true,
    status: answer.status,
    ...(wait !== undefined && { retryAfterS: wait }),
    cause: excerpt(text, apiKey),
  })
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** RFC 9110 §10.2.3: seconds or a date. A date is read against the answer's own Date, so that no clock has to agree. */
function retryAfter(answer: CollectedAnswer): number | undefined {
  const text = answer.headers.get('retry-after')
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  return (Date.parse(text) - Date.parse(answer.headers.get('date') ?? '')) / 1000
}

/** Whole seconds, a day at most. */
function bounded(seconds: number | undefined): number | undefined {
  if (seconds === undefined || !Number.isFinite(seconds)) return undefined
  return Math.min(Math.max(Math.ceil(seconds), 0), 86_400)
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
