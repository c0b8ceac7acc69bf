/** The client's handshake (RFC 6455, 4.2.1). The engines only check the length of Sec-WebSocket-Key. */

import type { Channel } from '../engine/channel.ts'
import { Refusal } from '../engine/handler.ts'
import type { Transport } from '../engine/transport.ts'
import type { SocketEntry } from './routes.ts'

export type Handshake = {
  httpVersion: string
  key: string
  /** The header Sec-WebSocket-Version. */
  version: string
  /** True if the Upgrade header asks for a WebSocket. */
  isWebSocket: boolean
  /**
   * True if the Connection header lists the upgrade. uWebSockets.js would close a socket if the header says `close`.
   */
  isUpgrade: boolean
  /** True if the client offers the channel's subprotocol. */
  isOffered: boolean
  /** True if the client offers no subprotocol at all. */
  offersNone: boolean
  /** '' if no credential is offered. */
  credential: string
}

/** Reads the handshake's headers. Must be called before the first await. */
export function readHandshake(transport: Transport, { subprotocol, credentialPrefix }: SocketEntry): Handshake {
  // The header may come in several lines, which form one list. RFC 6455, 11.3.4.
  const offered: string[] = []
  transport.eachHeader((name, value) => {
    if (name === 'sec-websocket-protocol') offered.push(...value.split(',').map((item) => item.trim()))
  })
  const credential = offered.find((item) => credentialPrefix !== '' && item.startsWith(credentialPrefix))
  return {
    httpVersion: transport.httpVersion,
    key: transport.header('sec-websocket-key'),
    version: transport.header('sec-websocket-version'),
    isWebSocket: transport.header('upgrade').toLowerCase() === 'websocket',
    isUpgrade: /(^|[\s,])upgrade([\s,]|$)/i.test(transport.header('connection')),
    offersNone: offered.length === 0,
    isOffered: subprotocol !== '' && offered.includes(subprotocol),
    credential: credential?.slice(credentialPrefix.length) ?? '',
  }
}

/**
 * Throws Refusal `invalid_parameter` with the header's name. A client with an Authorization header may omit the
 * subprotocol.
 */
export function requireHandshake(
  { channel, subprotocol }: SocketEntry,
  handshake: Handshake,
  hasAuthorization: boolean,
): void {
  if (handshake.httpVersion !== '1.1') throw refuseHeader('Upgrade', 'Upgrade needs HTTP/1.1')
  if (!handshake.isWebSocket) throw refuseHeader('Upgrade', 'Upgrade must be websocket')
  if (!handshake.isUpgrade) throw refuseHeader('Connection', 'Connection must be Upgrade')
  if (handshake.version !== '13') throw refuseHeader('Sec-WebSocket-Version', 'Sec-WebSocket-Version must be 13')
  if (!keyForm.test(handshake.key)) {
    throw refuseHeader('Sec-WebSocket-Key', 'Sec-WebSocket-Key must be 16 bytes in base64')
  }
  const mayLackSubprotocol = !channel.requiresSubprotocol || (handshake.offersNone && hasAuthorization)
  if (!handshake.isOffered && !mayLackSubprotocol) {
    throw refuseHeader('Sec-WebSocket-Protocol', `Sec-WebSocket-Protocol must offer ${subprotocol}`)
  }
}

/** Checks the query parameters. Throws Refusal `invalid_parameter`, which names the wrong parameter. */
export function requireQuery({ query = {} }: Channel, searchParams: URLSearchParams): void {
  for (const [param, values] of Object.entries(query)) {
    if (searchParams.getAll(param).every((value) => values.includes(value))) continue
    throw new Refusal('invalid_parameter', { param, message: `${param} must be one of ${values.join(', ')}` })
  }
}

/** The form of a key: 16 bytes in base64. RFC 6455, 4.1. */
const keyForm = /^[A-Za-z0-9+/]{22}==$/

function refuseHeader(param: string, message: string): Refusal {
  return new Refusal('invalid_parameter', { param, message })
}
