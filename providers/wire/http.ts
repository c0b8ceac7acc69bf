/**
 * Sends HTTP requests to one vendor, with its base URL, authentication and error classes. `VendorWire` holds the
 * differences between vendors. A vendor's error text is added to `cause`, shortened and without the key, but never to
 * an error message for clients.
 */

import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { CollectedAnswer, StreamedAnswer } from '../../runtime/outbound/answer.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { createPool, type OutboundRequest } from '../../runtime/outbound/pool.ts'
import { classOfStatus, excerpt, protocolError, rejectAsProviderError, toProviderError } from './failures.ts'
import { isObject, type JsonObject, parseVendorJson } from './json.ts'
import { retryAfterS } from './retry-after.ts'
import { withTrace } from './trace-headers.ts'

/** One vendor's authentication and errors. */
export type VendorWire = {
  /** Returns the authentication headers, as alternating names and values. */
  sign: (apiKey: string) => readonly string[]
  /**
   * Returns a refusal's error class by the vendor's error codes, never by its sentences. Returns null if the HTTP
   * status decides. `body` is null if the response is not a JSON object.
   */
  classify: (status: number, body: JsonObject | null) => ErrorClass | null
  /**
   * Returns the error class if a response with status 200 reports a failure. Absent if the vendor sends no such
   * responses.
   */
  failureIn?: (body: JsonObject) => ErrorClass | null
  /** Returns the seconds to wait, for vendors with this time in a refusal's body instead of the Retry-After header. */
  retryAfterIn?: (body: JsonObject) => number | undefined
  /**
   * Returns true if a refusal proves the key: the vendor knows the key, but the key may not send this request. Absent
   * if keys have no such limits at this vendor.
   */
  provesKey?: (body: JsonObject) => boolean
}

type HttpTransportOptions = {
  /** The base URL, with the common path for all requests. */
  baseUrl: string
  wire: VendorWire
  limits: OutboundLimits
  clock: Clock
}

export type Payload = { contentType: string; body: string | readonly Uint8Array[] }

/**
 * All methods reject with ProviderError. For all methods except `exchange`, a status other than 200 and 201 is an
 * error. A path begins with a slash and may contain a query.
 */
export interface VendorHttp {
  /** Sends a POST and returns the response's JSON object. */
  post(path: string, payload: Payload, signal: CancelSignal): Promise<JsonObject>
  get(path: string, signal: CancelSignal): Promise<JsonObject>
  /**
   * Sends a GET to check the key, and returns the response's status. Its body must be JSON, because a server that is
   * not the vendor's, such as a login page of a network, answers 200 too.
   */
  checkKey(path: string, signal: CancelSignal): Promise<number>
  /** Sends a DELETE and ignores the response's body. */
  remove(path: string, signal: CancelSignal): Promise<void>
  /** Returns the response for every status, for calling code that reads more from a refusal than its error class. */
  exchange(
    method: OutboundRequest['method'],
    path: string,
    payload: Payload | null,
    signal: CancelSignal,
  ): Promise<CollectedAnswer>
  /** Sends a POST and returns the response as a stream. A JSON response is an error. */
  stream(path: string, payload: Payload, bytesMax: number, signal: CancelSignal): Promise<StreamedAnswer>
}

/** The connections to one vendor. Requests with different API keys share them. */
export interface HttpTransport {
  /**
   * Returns the request methods with one API key. Requests have no authentication if `apiKey` is null. The returned
   * object is cheap and need not be closed.
   */
  signedWith(apiKey: string | null): VendorHttp
  close(): Promise<void>
}

const jsonType = 'application/json'
export const json = (body: JsonObject): Payload => ({ contentType: jsonType, body: JSON.stringify(body) })

export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { limits, wire, clock } = options
  const base = new URL(options.baseUrl)
  const pool = createPool({
    origin: base.origin,
    connectionsMax: limits.connectionsMax,
    queuedMax: limits.queuedMax,
    shares: limits.shares,
    connectMs: limits.connectMs,
    clock,
  })
  const link: Link = { pool, prefix: base.pathname.replace(/\/+$/, ''), search: base.search, limits, wire, clock }
  return {
    signedWith: (apiKey) => createVendorHttp(link, apiKey),
    close: () => pool.close(),
  }
}

/** The connections to a vendor, and the base URL's path and query, which all requests share. */
type Link = Pick<HttpTransportOptions, 'limits' | 'wire' | 'clock'> & {
  pool: ReturnType<typeof createPool>
  prefix: string
  search: string
}

function createVendorHttp(link: Link, apiKey: string | null): VendorHttp {
  const { pool, limits, wire, clock } = link
  const requestOf = requestsOf(link, apiKey === null ? [] : wire.sign(apiKey))
  const accepted = (answer: CollectedAnswer): CollectedAnswer => {
    if (isSuccess(answer.status)) return answer
    throw refusal(answer, wire, apiKey, clock.nowMs())
  }
  const read = (answer: CollectedAnswer) => readAnswer(accepted(answer).body.toString(), wire, apiKey)
  // A vendor sends a JSON response's first byte only when the whole response is ready. So the wait for the headers may
  // take as long as the whole request.
  const collect = (
    method: OutboundRequest['method'],
    path: string,
    payload: Payload | null,
    signal: CancelSignal,
  ): Promise<CollectedAnswer> =>
    pool.request(requestOf(method, path, payload, limits.answerBytesMax, limits.totalMs, signal))
  return {
    post: (path, payload, signal) => collect('POST', path, payload, signal).then(read, rejectAsProviderError),
    get: (path, signal) => collect('GET', path, null, signal).then(read, rejectAsProviderError),
    checkKey: (path, signal) =>
      collect('GET', path, null, signal).then((answer) => checkedStatus(answer, link, apiKey), rejectAsProviderError),
    remove: (path, signal) =>
      collect('DELETE', path, null, signal).then((answer) => void accepted(answer), rejectAsProviderError),
    exchange: (method, path, payload, signal) => collect(method, path, payload, signal).catch(rejectAsProviderError),
    async stream(path, payload, bytesMax, signal) {
      const answer = await pool
        .stream(requestOf('POST', path, payload, bytesMax, limits.firstByteMs, signal))
        .catch(rejectAsProviderError)
      if (isSuccess(answer.status) && !isJson(answer)) return answer
      const body = await readAtMost(answer.body, limits.answerBytesMax)
      if (!isSuccess(answer.status)) throw refusal({ ...answer, body }, wire, apiKey, clock.nowMs())
      readAnswer(body.toString(), wire, apiKey)
      throw protocolError('JSON where a stream was asked for')
    },
  }
}

function requestsOf({ prefix, search, limits }: Link, signed: readonly string[]) {
  // The headers for a JSON body are made only once, because nearly all requests send JSON.
  const signedJson = [...signed, 'content-type', jsonType]
  const headersOf = (payload: Payload | null) => {
    if (payload === null) return signed
    return payload.contentType === jsonType ? signedJson : [...signed, 'content-type', payload.contentType]
  }
  return (
    method: OutboundRequest['method'],
    path: string,
    payload: Payload | null,
    answerBytesMax: number,
    headersTimeoutMs: number,
    signal: CancelSignal,
  ): OutboundRequest => ({
    method,
    path: `${prefix}${path}${search}`,
    headers: withTrace(headersOf(payload), signal),
    body: payload === null ? '' : payload.body,
    signal,
    owner: signal.owner,
    headersTimeoutMs,
    bodyTimeoutMs: limits.idleMs,
    totalMs: limits.totalMs,
    answerBytesMax,
  })
}

/**
 * Returns the JSON object in `text`, a response or an event. Throws ProviderError if the text is not an object or
 * reports a failure.
 */
export function readAnswer(text: string, wire: VendorWire, apiKey: string | null): JsonObject {
  const body = parsed(text)
  if (body === null) throw protocolError('not a JSON object')
  const errorClass = wire.failureIn?.(body) ?? null
  if (errorClass === null) return body
  throw new ProviderError(errorClass, { sent: true, cause: excerpt(text, apiKey) })
}

const isSuccess = (status: number) => status === 200 || status === 201

/** Makes the error for a refused request or a refused WebSocket upgrade. */
export function refusal(
  answer: CollectedAnswer,
  wire: VendorWire,
  apiKey: string | null,
  nowMs: number,
): ProviderError {
  const text = answer.body.toString()
  const body = parsed(text)
  const wait = bounded(retryAfterS(answer.headers, nowMs) ?? (body ? wire.retryAfterIn?.(body) : undefined))
  return new ProviderError(wire.classify(answer.status, body) ?? classOfStatus(answer.status), {
    sent: true,
    status: answer.status,
    ...(wait !== undefined && { retryAfterS: wait }),
    cause: excerpt(text, apiKey),
  })
}

/** Returns the response's status if the response proves the key. Otherwise throws ProviderError. */
function checkedStatus(answer: CollectedAnswer, { wire, clock }: Link, apiKey: string | null): number {
  const { status } = answer
  const text = answer.body.toString()
  const value = valueOf(text)
  const body = isObject(value) ? value : null
  if (body !== null && wire.provesKey?.(body)) return status
  if (!isSuccess(status)) throw refusal(answer, wire, apiKey, clock.nowMs())
  // Some servers with OpenAI's protocol send their models as a list without an object around it.
  const errorClass = body ? (wire.failureIn?.(body) ?? null) : Array.isArray(value) ? null : 'protocol'
  if (errorClass === null) return status
  throw new ProviderError(errorClass, { sent: true, status, cause: excerpt(text, apiKey) })
}

function parsed(text: string): JsonObject | null {
  const value = valueOf(text)
  return isObject(value) ? value : null
}

function valueOf(text: string): unknown {
  try {
    return parseVendorJson(text)
  } catch {
    return null
  }
}

/** Rounds the wait up to whole seconds, and limits it to a day. */
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
