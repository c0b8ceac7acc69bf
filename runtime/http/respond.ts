/** Writes all HTTP responses: results of handlers, errors, and responses to OPTIONS. */

import { Refusal, type Result } from '../engine/handler.ts'
import { type Head, renameHeader } from '../engine/head.ts'
import type { Validate } from '../engine/operation.ts'
import { pushCors, pushPreflight } from './cors.ts'
import type { Answer, Endpoint } from './endpoint.ts'
import type { Engine } from './engine.ts'
import { streamEvents } from './event-stream.ts'
import { ClientGone, type HttpExchange } from './http-exchange.ts'
import type { PathEntry } from './routes.ts'
import { iterate, release, streamBytes } from './stream.ts'

/**
 * Writes a handler's result. Returns a promise if the response is a stream. Throws if the operation does not declare
 * the result. Rejects if a stream fails before its first piece.
 */
export function respond(
  engine: Engine,
  exchange: HttpExchange,
  endpoint: Endpoint,
  result: Result,
): Promise<void> | undefined {
  const answer = endpoint.answers.get(result.status)
  if (!answer) throw new Error(`${endpoint.operation.id} answered ${result.status}, which it does not declare`)
  const type = result.type ?? answer.types[0] ?? null
  const headers = resultHeaders(engine, exchange, endpoint, answer, result)
  if (type === null) return write(exchange, result.status, headers, null)
  headers.push('Content-Type', type)
  const { body } = result
  if (body instanceof Uint8Array) return write(exchange, result.status, headers, body)
  if (type === 'application/json') {
    if (answer.validate && result.isUnchecked !== true) check(endpoint, answer.validate, result)
    if (body === undefined) throw new Error(`${endpoint.operation.id} answered ${result.status} without its body`)
    return write(exchange, result.status, headers, JSON.stringify(body))
  }
  if (typeof body === 'string') return write(exchange, result.status, headers, body)
  const bytes = lengthOf(result)
  if (exchange.transport.method === 'head') {
    discard(result)
    if (bytes !== null) headers.push('Content-Length', String(bytes))
    return write(exchange, result.status, headers, null)
  }
  headers.push(...unbuffered)
  if (type !== 'text/event-stream')
    return streamBytes(engine, exchange, { status: result.status, headers, bytes }, body)
  return streamEvents(engine, exchange, result.status, headers, body, answer)
}

/** Returns the length that the handler states for a body in pieces. Null if unknown. */
function lengthOf({ headers }: Result): number | null {
  const value = headers?.['Content-Length']
  return typeof value === 'number' ? value : null
}

/** Asks nginx and similar proxies to forward each piece at once. Otherwise they buffer some kilobytes. */
const unbuffered = ['X-Accel-Buffering', 'no']

/** Responds with the API's error body. The API's fault writer logs the error. Never throws. */
export function refuse(engine: Engine, exchange: HttpExchange, error: unknown): void {
  if (exchange.isGone || error instanceof ClientGone) return
  const isBegun = exchange.status !== 0
  const fault = engine.faultAnswer(exchange, error)
  // The connection is closed, because a partial response must not look complete.
  if (isBegun) return exchange.transport.close()
  const headers = commonHeaders(engine, exchange)
  for (const [name, value] of Object.entries(fault.headers)) {
    pushHeader(headers, renameHeader(name, engine.options.headerPrefix), value)
  }
  if (error instanceof Refusal && error.kind === 'method_not_allowed')
    pushOnce(headers, 'Allow', error.detail.allow ?? '')
  headers.push('Content-Type', 'application/json')
  if (exchange.transport.method === 'post') pushOnce(headers, 'Cache-Control', 'no-store')
  write(exchange, fault.status, headers, fault.body)
}

export function respondOptions(engine: Engine, exchange: HttpExchange, entry: PathEntry, head: Head): void {
  const headers = commonHeaders(engine, exchange)
  headers.push('Allow', entry.allow)
  if (exchange.corsOrigin !== '' && head.preflightMethod !== '') pushPreflight(headers, entry)
  write(exchange, 204, headers, null)
}

/** Releases a result if the client has left. */
export function discard({ body }: Result): void {
  const pieces = iterate(body)
  if (pieces) release(pieces)
}

function write(
  exchange: HttpExchange,
  status: number,
  headers: readonly string[],
  body: string | Uint8Array | null,
): undefined {
  exchange.status = status
  exchange.transport.answer(status, headers, body, exchange.closesConnection)
}

/**
 * Returns the headers for request id, region and quota, as alternating names and values, also for a 101. Most client
 * libraries read the request id from `x-request-id`. If a request was refused before it was counted, the only quota
 * header is the policy.
 */
export function identityHeaders(engine: Engine, { requestId, rateLimit, mount }: HttpExchange): string[] {
  const { options, quota, regionHeader, requestIdHeader } = engine
  const headers = [requestIdHeader, requestId, 'x-request-id', requestId, regionHeader, options.region]
  if (rateLimit !== '') headers.push('RateLimit-Policy', quota.policy, 'RateLimit', rateLimit)
  else if (quota.policy !== '' && mount?.quota && !mount.health) headers.push('RateLimit-Policy', quota.policy)
  return headers
}

/** Returns the headers for every response except a 101. */
function commonHeaders(engine: Engine, exchange: HttpExchange): string[] {
  const { mount, closesConnection } = exchange
  const headers = identityHeaders(engine, exchange)
  if (mount) pushCors(headers, mount, exchange.corsOrigin)
  if (exchange.endpoint) headers.push(...exchange.endpoint.constantHeaders)
  // This header only asks the client to close the connection. Closing it while a body arrives would reset the
  // connection, and the client would lose the response.
  if (engine.asksToClose && !closesConnection) headers.push('Connection', 'close')
  return headers
}

function resultHeaders(
  engine: Engine,
  exchange: HttpExchange,
  { operation }: Endpoint,
  answer: Answer,
  result: Result,
): string[] {
  const headers = commonHeaders(engine, exchange)
  const given = result.headers
  if (given) {
    for (const [name, wireName] of answer.headers) {
      const value = given[name]
      if (value === undefined) continue
      for (const each of Array.isArray(value) ? value : [value]) pushHeader(headers, wireName, String(each))
    }
  }
  const isSecret = operation.noStore || operation.method === 'post'
  if (isSecret && answer.types.length > 0) pushOnce(headers, 'Cache-Control', 'no-store')
  return headers
}

/**
 * Adds a header without control characters: a line break in a value could begin another header or the body, and
 * node:http refuses control characters. RFC 9110, 5.5.
 */
function pushHeader(headers: string[], name: string, value: string): void {
  headers.push(name, value.replaceAll(controls, ' '))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const controls = /[\0-\x08\x0a-\x1f\x7f]/g

function pushOnce(headers: string[], name: string, value: string): void {
  const lowerCase = name.toLowerCase()
  for (let i = 0; i < headers.length; i += 2) if (headers[i]?.toLowerCase() === lowerCase) return
  headers.push(name, value)
}

function check({ operation }: Endpoint, validate: Validate, { status, body }: Result): void {
  if (validate(body)) return
  const { instancePath, message } = validate.errors?.[0] ?? {}
  throw new Error(`${operation.id} ${status} is not what the contract says: ${instancePath} ${message}`)
}
