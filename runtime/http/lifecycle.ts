/**
 * A request from its first line to its last byte, in reading order. All code before the first await runs while the
 * transport's request object is still valid: it copies headers and attaches the body's listener. A step refuses by
 * throwing. `serve` turns the error into a response.
 */

import { Refusal } from '../engine/handler.ts'
import { type Head, readHead } from '../engine/head.ts'
import type { Operation } from '../engine/operation.ts'
import type { Transport } from '../engine/transport.ts'
import { allowedOrigin } from './cors.ts'
import type { Endpoint } from './endpoint.ts'
import type { Engine } from './engine.ts'
import { ClientGone, givenBack, type HttpExchange } from './http-exchange.ts'
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
  const lookup = identify(engine, exchange, operation, head)
  const arriving = operation.body && receive(engine, exchange, operation.body, head)
  if (lookup) await lookup
  const input = readInput(endpoint, params, query, head, headerPrefix)
  // Ranges are defined only for GET, so HEAD ignores them. RFC 9110, 14.2.
  if (exchange.transport.method === 'head') delete input.header['range']
  if (arriving instanceof Refusal) throw arriving
  if (arriving) {
    await arriving.whole()
    const { content } = arriving
    exchange.content = content
    if (operation.rawBody) exchange.rawBody = content.rawBody()
    const body = content.read(operation.validateBody, exchange.owner)
    input.body = body instanceof Promise ? await body : body
  }
  if (!exchange.keep()) throw givenBack()
  if (exchange.isGone) throw new ClientGone()
  const result = await handler(input, exchange)
  if (exchange.isGone) return discard(result)
  const streaming = respond(engine, exchange, endpoint, result)
  if (streaming) await streaming
}

/**
 * Authenticates the client and counts the request as in flight, before the body's first byte. A cached key is found
 * synchronously, and an unneeded await costs a turn of the microtask queue. While a key is looked up, the request
 * counts for the owner `unchecked`, together with all other requests in this state, and its body may arrive. Throws or
 * rejects with a refusal.
 */
function identify(engine: Engine, exchange: HttpExchange, operation: Operation, head: Head): Promise<void> | undefined {
  const { scope, body } = operation
  const awaitsBody = body !== null && head.hasBody
  if (scope === null) {
    if (!exchange.mount?.health) enter(exchange, owners.keyless, awaitsBody)
    return undefined
  }
  const { options } = engine
  const accept = (caller: unknown) => {
    exchange.caller = caller
    enter(exchange, options.shares.ownerOf(caller), awaitsBody)
    return awaitsBody ? admitBody(engine, exchange, operation) : undefined
  }
  const caller = options.authenticate(head, operation, exchange)
  if (!(caller instanceof Promise)) return accept(caller)
  const lookup = watched(caller.then(accept))
  enter(exchange, owners.unchecked, awaitsBody)
  return lookup
}

/** Calls the option `admitBody`: it decides whether the client may send this body now. Throws or rejects if not. */
function admitBody({ options }: Engine, exchange: HttpExchange, operation: Operation): Promise<void> | undefined {
  const end = options.shares.admitBody(exchange.caller, exchange.requestId, operation)
  if (end instanceof Promise) return watched(end.then((run) => exchange.whenOver(run)))
  if (end !== null) exchange.whenOver(end)
  return undefined
}

/** If a later step throws, nothing awaits the lookup, and an unhandled rejection would end the process. */
function watched(lookup: Promise<void>): Promise<void> {
  lookup.catch(() => {})
  return lookup
}

/** Throws the refusal if the owner's limit allows no further request in flight now. */
export function enter(exchange: HttpExchange, owner: string, awaitsBody: boolean): void {
  if (exchange.enter(owner, awaitsBody)) return
  throw new Refusal('overloaded', { message: 'too many requests at once', retryAfterS: 1 })
}

/**
 * Owners for requests and sockets without an authenticated client. All requests without a key together are like one
 * organization, because a client can have any number of addresses.
 */
export const owners = { keyless: 'keyless', unchecked: 'unchecked', relayed: 'relayed' }

const nothing: ReadonlyMap<string, string> = new Map()

/** Prevents a smuggled request behind this request from running. */
function isolate(transport: Transport, { hasBody, isChunked, asksToClose, contentLength }: Head): void {
  if (contentLength === null && !isChunked && !asksToClose && bodiless.has(transport.method)) return
  transport.isolate(hasBody, isChunked || asksToClose)
}

/** Methods of requests that usually have no body. */
const bodiless = new Set(['get', 'head', 'options'])

/**
 * Closes the connection without a response: after a response uWebSockets.js would read on, and might run a smuggled
 * request.
 */
export function drop(exchange: HttpExchange): void {
  exchange.status = 400
  exchange.transport.close()
}

/**
 * Throws Refusal if the server does not accept requests now or from this IP address. Health checks are always answered.
 */
export function admit(engine: Engine, exchange: HttpExchange, head: Head): void {
  const { mount } = exchange
  if (mount?.health) return
  if (mount) exchange.corsOrigin = allowedOrigin(mount, head.origin)
  if (!engine.isServing) throw new Refusal('overloaded', { message: 'the server is restarting', retryAfterS: 1 })
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
