/**
 * A request to open a socket, from its first line to the upgrade or the refusal. Until it is answered it is an exchange like any other, with the
 * same refusals in the same order; what only a socket has (subprotocol, admission) comes after them.
 */

import { ClientGone, type HttpExchange } from '../http/http-exchange.ts'
import { admit, drop } from '../http/lifecycle.ts'
import { identityHeaders, refuse } from '../http/respond.ts'
import { Connection, type Live } from '../ws/connection.ts'
import { type Handshake, readHandshake, requireHandshake, requireQuery } from '../ws/handshake.ts'
import type { SocketRoute } from '../ws/routes.ts'
import { CancelSignal } from './cancel-signal.ts'
import type { Engine } from './engine.ts'
import { Refusal } from './handler.ts'
import { readHead } from './head.ts'
import type { HttpRequest, HttpResponse, us_socket_context_t } from './uws/binary.ts'
import { UwsTransport } from './uws/transport.ts'

/** Answers one request. Never rejects, and never throws: uWebSockets.js would end the process. `opened` gets the socket when the carrier has made it. */
export async function upgrade(
  engine: Engine,
  opened: Live[],
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t,
): Promise<void> {
  const wire = new UwsTransport(response, request)
  const exchange = engine.open(wire)
  try {
    const head = readHead(wire, nothing)
    exchange.head = head
    const route = engine.socketRoutes.find(head.host, wire.path)
    exchange.mount = route?.mount ?? engine.routes.find(head.host, wire.path)?.mount ?? null
    exchange.channelId = route?.channel.id ?? ''
    if (!head.isSound) return drop(exchange)
    admit(engine, exchange, head)
    if (!route) throw new Refusal('not_found', { message: 'there is nothing at this path' })
    const handshake = readHandshake(wire, route)
    const connection = await admitSocket(engine, exchange, route, handshake)
    exchange.status = 101
    const subprotocol = handshake.isOffered ? route.subprotocol : ''
    wire.upgrade(identityHeaders(engine, exchange), { connection }, handshake.key, subprotocol, context)
    const ws = opened.pop()
    if (ws) connection.opened(ws)
  } catch (error) {
    refuse(engine, exchange, error)
  } finally {
    engine.close(exchange)
  }
}

const nothing: ReadonlyMap<string, string> = new Map()

async function admitSocket(
  engine: Engine,
  exchange: HttpExchange,
  route: SocketRoute,
  handshake: Handshake,
): Promise<Connection> {
  const { requestId, startedMs } = exchange
  const { id: channelId, scope } = route.channel
  const query = new URLSearchParams(exchange.wire.query)
  requireRoom(engine)
  requireHandshake(route, handshake)
  requireQuery(route.channel, query)
  const { authorization = '', origin = '', host = '' } = exchange.head ?? {}
  const { credential } = handshake
  const asked = { channelId, scope, requestId, authorization, credential, origin, host, query }
  const caller = await route.admit(asked)
  if (exchange.isGone) throw new ClientGone()
  // Much may have happened while the caller was looked up.
  requireRoom(engine)
  const signal = new CancelSignal()
  return new Connection(engine.sockets, route, { requestId, caller, channelId, query, signal, startedMs })
}

function requireRoom({ state, sockets }: Engine): void {
  if (state !== 'ready') throw new Refusal('overloaded', { message: 'the server is restarting', retryAfterS: 1 })
  if (sockets.isFull) throw new Refusal('overloaded', { message: 'too many open sockets', retryAfterS: 1 })
}
