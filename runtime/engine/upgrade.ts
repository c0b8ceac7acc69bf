/**
 * A request to open a socket, from its first line to the upgrade or the refusal. Until it is answered it is an HTTP
 * exchange like any other, with the same refusals in the same order. The checks that only a socket has (subprotocol,
 * admission) come after them.
 */
import { ClientGone, type HttpExchange } from '../http/http-exchange.ts'
import { admit, drop } from '../http/lifecycle.ts'
import { identityHeaders, refuse } from '../http/respond.ts'
import { nothingAt } from '../http/unknown-path.ts'
import { Connection } from '../ws/connection.ts'
import { type Handshake, readHandshake, requireHandshake, requireQuery } from '../ws/handshake.ts'
import type { SocketEntry } from '../ws/routes.ts'
import { CancelSource } from './cancel-signal.ts'
import type { Engine } from './engine.ts'
import { Refusal } from './handler.ts'
import { readHead } from './head.ts'
import { type Found, namedParams } from './path-tree.ts'
import type { UpgradeTransport } from './transport.ts'

/** Answers one request. Never rejects, and never throws: uWebSockets.js would end the process. */
export async function upgrade(engine: Engine, transport: UpgradeTransport): Promise<void> {
  const exchange = engine.open(transport)
  try {
    const head = readHead(transport, nothing)
    exchange.head = head
    const found = engine.socketRoutes.find(head.host, transport.path)
    exchange.mount = found?.entry.mount ?? mountOf(engine, head.host, transport.path)
    exchange.channelId = found?.entry.channel.id ?? ''
    // The bytes of a body would be read as frames.
    if (!head.isSound || head.hasBody) return drop(exchange)
    admit(engine, exchange, head)
    if (!found) throw nothingAt(transport.path, engine.socketRoutes.patterns)
    const { entry } = found
    const handshake = readHandshake(transport, entry)
    const connection = await admitSocket(engine, exchange, found, handshake)
    exchange.status = 101
    const subprotocol = handshake.isOffered ? entry.subprotocol : ''
    const socket = transport.upgrade(identityHeaders(engine, exchange), handshake.key, subprotocol, connection)
    if (socket) connection.opened(socket)
  } catch (error) {
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
  { entry, params }: Found<SocketEntry>,
  handshake: Handshake,
): Promise<Connection> {
  const { requestId, startedMs } = exchange
  const { id: channelId, scope } = entry.channel
  const query = new URLSearchParams(exchange.transport.query)
  requireCapacity(engine)
  const { authorization = '', origin = '', host = '' } = exchange.head ?? {}
  requireHandshake(entry, handshake, authorization !== '')
  const path = namedParams(entry.channel.parameters ?? [], params)
  requireQuery(entry.channel, query)
  const { credential } = handshake
  const asked = { channelId, scope, requestId, authorization, credential, origin, host, path, query }
  const caller = await entry.admit(asked)
  if (exchange.isGone) throw new ClientGone()
  // The look-up of the caller can take long, and the server may be stopping or full by now.
  requireCapacity(engine)
  const signal = new CancelSource()
  return new Connection(engine.sockets, entry, { requestId, caller, channelId, path, query, signal, startedMs })
}

function requireCapacity({ isServing, sockets }: Engine): void {
  if (!isServing) throw new Refusal('overloaded', { message: 'the server is restarting', retryAfterS: 1 })
  if (sockets.isFull) throw new Refusal('overloaded', { message: 'too many open sockets', retryAfterS: 1 })
}
