/**
 * A request from its first line to its last byte, in reading order. All code before the first await runs while the
 * transport still lends the request: it copies headers and attaches the body's listener. A step refuses by throwing.
 * `serve` turns the error into an answer.
 */

import { Refusal } from '../engine/handler.ts'
import { type Head, readHead } from '../engine/head.ts'
import type { Transport } from '../engine/transport.ts'
import { allowedOrigin } from './cors.ts'
import type { Endpoint } from './endpoint.ts'
import type { Engine } from './engine.ts'
import { ClientGone, type HttpExchange } from './http-exchange.ts'
import { readInput } from './input.ts'
import { receive } from './receive.ts'
import { discard, refuse, respond, respondOptions } from './respond.ts'
import type { PathEntry } from './routes.ts'
import { nothingAt } from './unknown-path.ts'

/** Answers one request. Never rejects. */
export async function serve(engine: Engine, transport: Transport): Promise<void> {
  const exchange = engine.open(transport)
  try {
    const { method, path } = transport
    const host = engine.routes.byHost ? transport.header('host') : ''
    const match = engine.routes.find(host, path)
    const endpoint = match?.entry.endpoints.get(method === 'head' ? 'get' : method) ?? null
    exchange.mount = match ? match.entry.mount : engine.routes.mountFor(host, path)
    exchange.endpoint = endpoint
    const head = readHead(transport, endpoint?.requestHeaders ?? nothing)
    exchange.head = head
    if (!head.isSound) return drop(exchange)
    isolate(transport, head)
    engine.trace(exchange, head)
    exchange.accept = head.accept
    admit(engine, exchange, head)
    if (!match) throw unknownPath(engine, exchange)
    if (method === 'options') return respondOptions(engine, exchange, match.entry, head)
    if (!endpoint) throw unknownMethod(match.entry)
    await handle(engine, exchange, endpoint, match.params, head)
  } catch (error) {
    refuse(engine, exchange, error)
  } finally {
    engine.close(exchange)
  }
}

async function handle(
  engine: Engine,
  exchange: HttpExchange,
  endpoint: Endpoint,
  params: readonly string[],
  head: Head,
): Promise<void> {
  const { operation, handler } = endpoint
  const { headerPrefix } = engine.options
  const { query } = exchange.transport
  const arriving = operation.body && receive(engine, exchange, operation.body, head)
  if (operation.scope !== null) {
    const caller = engine.options.authenticate(head, operation, exchange.logFields)
    // A cached key is found synchronously, and an unneeded await costs a turn of the microtask queue.
    exchange.caller = caller instanceof Promise ? await caller : caller
  }
  const input = readInput(endpoint, params, query, head, headerPrefix)
  // Ranges are defined only for GET, so HEAD ignores them. RFC 9110, 14.2.
  if (exchange.transport.method === 'head') delete input.header['range']
  if (arriving instanceof Refusal) throw arriving
  if (arriving) {
    await arriving.whole()
    const { content } = arriving
    exchange.content = content
    if (operation.rawBody) exchange.rawBody = content.rawBody()
    const body = content.read(operation.validateBody)
    input.body = body instanceof Promise ? await body : body
  }
  if (exchange.isGone) throw new ClientGone()
  const result = await handler(input, exchange)
  if (exchange.isGone) return discard(result)
  const streaming = respond(engine, exchange, endpoint, result)
  if (streaming) await streaming
}

const nothing: ReadonlyMap<string, string> = new Map()

/** Prevents a smuggled request behind this request from running. */
function isolate(transport: Transport, { hasBody, isChunked, asksToClose, contentLength }: Head): void {
  if (contentLength === null && !isChunked && !asksToClose && bodiless.has(transport.method)) return
  transport.isolate(hasBody, isChunked || asksToClose)
}

/** Methods of requests that usually have no body. */
const bodiless = new Set(['get', 'head', 'options'])

/**
 * Closes the connection without an answer: after an answer uWebSockets.js would read on, and might run a smuggled
 * request.
 */
export function drop(exchange: HttpExchange): void {
  exchange.status = 400
  exchange.transport.close()
}

/**
 * Throws Refusal if the server does not accept requests now or from this address. Health checks are always answered.
 */
export function admit(engine: Engine, exchange: HttpExchange, head: Head): void {
  const { mount } = exchange
  if (mount?.health) return
  if (mount) exchange.corsOrigin = allowedOrigin(mount, head.origin)
  if (!engine.isServing) throw new Refusal('overloaded', { message: 'the server is restarting', retryAfterS: 1 })
  if (engine.inflight > engine.options.limits.requestsMax) {
    throw new Refusal('overloaded', { message: 'too many requests at once', retryAfterS: 1 })
  }
  if (mount?.quota ?? true) spendQuota(engine, exchange, head)
}

function spendQuota({ quota, options }: Engine, exchange: HttpExchange, head: Head): void {
  exchange.source = quota.source(exchange.transport.address(), head.forwardedFor)
  const { rateLimit, refusal } = quota.enter(exchange.source, options.clock.nowMs())
  exchange.rateLimit = rateLimit
  if (refusal) throw refusal
}

function unknownPath(engine: Engine, exchange: HttpExchange): Refusal {
  const { path } = exchange.transport
  const host = exchange.head?.host ?? ''
  const socket = engine.socketRoutes.find(host, path)
  if (!socket) return nothingAt(path, engine.routes.patternsAt(host))
  exchange.mount = socket.entry.mount
  return new Refusal('socket_expected', {
    message: 'this is a WebSocket address: it takes an upgrade and nothing else',
  })
}

function unknownMethod({ allow }: PathEntry): Refusal {
  return new Refusal('method_not_allowed', { allow, message: `This path takes ${allow}` })
}
