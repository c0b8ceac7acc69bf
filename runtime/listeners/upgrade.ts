/**
 * A request to open a socket, from its first line to the upgrade or the refusal. Until then it is an HTTP request like
 * any other, and the checks for HTTP requests come first, in their usual order. The checks for sockets (subprotocol,
 * admission) come after these.
 */

import { CancelSource } from '../engine/cancel-signal.ts'
import { type FaultAnswer, Refusal } from '../engine/handler.ts'
import { readHead } from '../engine/head.ts'
import { namedParams, type PathMatch } from '../engine/path-tree.ts'
import { type RelayLink, RelaySession, unreachable } from '../engine/relay/outgoing.ts'
import type { RelayRequest } from '../engine/relay/request.ts'
import { OwnedElsewhere, type SocketContext } from '../engine/socket.ts'
import type { Trace } from '../engine/trace-context.ts'
import type { UpgradeTransport } from '../engine/transport.ts'
import type { Engine } from '../http/engine.ts'
import { ClientGone, type HttpExchange } from '../http/http-exchange.ts'
import { admit, drop, enter, owners } from '../http/lifecycle.ts'
import { identityHeaders, refuse } from '../http/respond.ts'
import { nothingAt } from '../http/unknown-path.ts'
import type { Capacity, Place } from '../shares/capacity.ts'
import { Connection } from '../ws/connection.ts'
import { type Handshake, readHandshake, requireHandshake, requireQuery } from '../ws/handshake.ts'
import type { SocketEntry } from '../ws/routes.ts'

/** Answers one request. Never rejects and never throws, because uWebSockets.js would end the process. */
export async function upgrade(engine: Engine, transport: UpgradeTransport): Promise<void> {
  const exchange = engine.open(transport)
  let connection: Connection | null = null
  try {
    const head = readHead(transport, nothing)
    exchange.head = head
    const match = engine.socketRoutes.find(head.host, transport.path)
    exchange.mount = match?.entry.mount ?? mountOf(engine, head.host, transport.path)
    exchange.channelId = match?.entry.channel.id ?? ''
    engine.trace(exchange, head)
    // If the request had a body, its bytes would be read as frames.
    if (!head.isSound || head.hasBody) return drop(exchange)
    admit(engine, exchange, head)
    if (!match) throw nothingAt(transport.path, engine.socketRoutes.patterns)
    const { entry } = match
    const handshake = readHandshake(transport, entry)
    connection = await admitSocket(engine, exchange, match, handshake)
    exchange.status = 101
    const subprotocol = handshake.isOffered ? entry.subprotocol : ''
    const socket = transport.upgrade(identityHeaders(engine, exchange), handshake.key, subprotocol, connection)
    if (socket) connection.opened(socket)
    else connection.gone(cutCode)
  } catch (error) {
    connection?.gone(cutCode)
    refuse(engine, exchange, error)
  } finally {
    engine.close(exchange)
  }
}

const nothing: ReadonlyMap<string, string> = new Map()

function mountOf({ routes }: Engine, host: string, path: string) {
  return routes.find(host, path)?.entry.mount ?? routes.mountFor(host, path)
}

async function admitSocket(
  engine: Engine,
  exchange: HttpExchange,
  match: PathMatch<SocketEntry>,
  handshake: Handshake,
): Promise<Connection> {
  const { requestId, trace } = exchange
  requireCapacity(engine)
  const { authorization = '', origin = '', host = '' } = exchange.head ?? {}
  requireHandshake(match.entry, handshake, authorization !== '')
  const { path, query } = exchange.transport
  const { traceparent = '', tracestate = '' } = trace?.headers ?? {}
  const { credential } = handshake
  const request = { requestId, authorization, credential, origin, host, path, query, traceparent, tracestate }
  const claim: Claim = { organizationId: null, enter: (owner) => enter(exchange, owner, false) }
  const connection = await connectionOf(engine, match, request, exchange, claim).catch((error: unknown) => {
    if (error instanceof OwnedElsewhere) return relayed(engine, match, request, exchange, claim, error.owner)
    throw error
  })
  try {
    if (exchange.isGone) throw new ClientGone()
    // Opening a relay can take long. Meanwhile the server may have begun to stop.
    requireServing(engine)
    return connection
  } catch (error) {
    connection.gone(cutCode)
    throw error
  }
}

/** Facts known about a socket at its request's arrival. */
type Begun = Pick<SocketContext, 'startedMs' | 'trace' | 'logFields'>

/** Counts a socket and its request for an organization. */
type Claim = {
  /** Null until the admission has found the organization. */
  organizationId: string | null
  /**
   * Counts the request for an owner. Throws the refusal if the owner's limit allows no further request in flight now.
   */
  enter(owner: string): void
}

/** Checks the query, admits the client and makes the connection. Throws the errors of the mount's `admit`. */
async function connectionOf(
  engine: Engine,
  { entry, params }: PathMatch<SocketEntry>,
  request: RelayRequest,
  begun: Begun,
  claim: Claim,
): Promise<Connection> {
  const { id: channelId, scope, role, parameters = [] } = entry.channel
  const query = new URLSearchParams(request.query)
  const path = namedParams(parameters, params)
  requireQuery(entry.channel, query)
  const { requestId, authorization, credential, origin, host } = request
  const { startedMs, logFields } = begun
  let { trace } = begun
  const joinTrace = (joined: Trace | null) => {
    if (joined === null) return
    trace = joined.below()
    Object.assign(logFields, trace.logFields)
  }
  const commonFields = { requestId, channelId, path, query, logFields }
  const belongsTo = (organizationId: string) => {
    claim.organizationId = organizationId
    claim.enter(organizationId)
  }
  const access = { scope, role, authorization, credential, origin, host }
  const admission = entry.admit({ ...commonFields, ...access, belongsTo, joinTrace })
  const caller = admission instanceof Promise ? await admitted(admission, claim) : admission
  // Looking up the client's API key can take long. Meanwhile the server may have begun to stop.
  requireServing(engine)
  const place = placeFor(engine, claim.organizationId ?? owners.keyless)
  const signal = new CancelSource()
  return new Connection(engine.sockets, entry, { ...commonFields, caller, signal, startedMs, trace }, place)
}

/**
 * While a key is looked up, the request counts for the owner `unchecked`, together with all other requests in this
 * state.
 */
function admitted(admission: Promise<unknown>, claim: Claim): Promise<unknown> {
  // If the request is refused here, nothing awaits the admission, and an unhandled rejection would end the process.
  admission.catch(() => {})
  if (claim.organizationId === null) claim.enter(owners.unchecked)
  return admission
}

/** Connects a socket to the process that serves it. */
async function relayed(
  engine: Engine,
  { entry, params }: PathMatch<SocketEntry>,
  request: RelayRequest,
  { startedMs, trace, logFields }: Begun,
  claim: Claim,
  holder: string,
): Promise<Connection> {
  const { relay, sockets } = engine
  if (relay === null) throw unreachable('another process has the session')
  if (claim.organizationId === null) claim.enter(owners.relayed)
  const { organizationId } = claim
  const opening = placeFor(engine, organizationId ?? owners.relayed)
  const link = await relay.open(holder, request, organizationId).catch((error: unknown) => {
    opening.end()
    throw error
  })
  const place = organizationId === null ? placeOfLink(engine, opening, link) : opening
  const signal = new CancelSource()
  signal.addEventListener('abort', () => link.close())
  const { id: channelId, parameters = [] } = entry.channel
  const path = namedParams(parameters, params)
  const query = new URLSearchParams(request.query)
  const { requestId } = request
  const context = { requestId, caller: null, channelId, path, query, signal, startedMs, trace, logFields }
  return new Connection(sockets, relayEntry(entry, link), context, place)
}

/** Counts the socket for the organization that the owner (the serving process) has named. */
function placeOfLink(engine: Engine, opening: Place, link: RelayLink): Place {
  opening.end()
  try {
    return placeFor(engine, link.organizationId)
  } catch (error) {
    link.close()
    throw error
  }
}

/** Passes a relayed socket's frames on without reading them. */
function relayEntry(entry: SocketEntry, link: RelayLink): SocketEntry {
  return {
    ...entry,
    channel: { ...entry.channel, acceptsBinary: true },
    handler: (socket) => new RelaySession(link, socket),
    takeText: (_channel, session, text) => (session as RelaySession).onText(text),
  }
}

/**
 * Admits a socket accepted by another process on this machine. The credential is checked as for a socket from our port.
 * A socket is relayed only once: if a third process would have to serve it, it is refused. `places` limits the sockets
 * from other processes.
 */
export async function admitRelayed(
  engine: Engine,
  request: RelayRequest,
  places: Capacity,
): Promise<{ connection: Connection; place: Place } | { refusal: FaultAnswer }> {
  const match = engine.socketRoutes.find(request.host, request.path)
  try {
    if (!match) throw nothingAt(request.path, engine.socketRoutes.patterns)
    requireCapacity(engine)
    const trace = engine.traceOf(request)
    const logFields = { ...trace?.logFields }
    const begun = { startedMs: engine.sockets.nowMs(), trace, logFields }
    // The accepting process counts the request, so this process does not.
    const claim: Claim = { organizationId: null, enter: () => {} }
    const connection = await connectionOf(engine, match, request, begun, claim)
    const place = places.take(claim.organizationId ?? owners.keyless)
    if (place !== null) return { connection, place }
    connection.gone(cutCode)
    throw tooManySockets()
  } catch (error) {
    const mount = match?.entry.mount ?? null
    const shown = error instanceof OwnedElsewhere ? unreachable('another process has the session') : error
    return { refusal: engine.faultAnswer({ mount, requestId: request.requestId }, shown) }
  }
}

/** The close code for a socket without an open connection. */
const cutCode = 1006

function requireCapacity(engine: Engine): void {
  requireServing(engine)
  if (engine.sockets.isFull) throw tooManySockets()
}

function requireServing({ isServing }: Engine): void {
  if (!isServing) throw new Refusal('overloaded', { message: 'the server is restarting', retryAfterS: 1 })
}

/** Takes one of the places that the limit on open sockets allows. The connection must release the place. */
function placeFor({ sockets }: Engine, owner: string): Place {
  const place = sockets.take(owner)
  if (place === null) throw tooManySockets()
  return place
}

function tooManySockets(): Refusal {
  return new Refusal('overloaded', { message: 'too many open sockets', retryAfterS: 1 })
}
