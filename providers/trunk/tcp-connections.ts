/**
 * TCP connections with trunks. An incoming connection begins as a "stranger":
 *
 *   stranger ──a known sender's message──► known ──no message for 10 minutes──► closed
 *       └──── no such message in time, or its place is needed ──────────────────────►
 *
 * Any client can open connections, so strangers may have few connections per IP address, and only for a short time.
 * Known connections count against their organization's part of the limit on connections.
 */

import { Socket } from 'node:net'
import type { Clock } from '../../domain/ports/system.ts'
import type { Capacity, Place } from '../../runtime/shares/capacity.ts'
import type { Peer } from './address.ts'
import { dividedPlaces } from './divided-places.ts'
import { Framing } from './framing.ts'
import type { TrunkLimits } from './limits.ts'

export type SocketLimits = Pick<
  TrunkLimits,
  'socketsMax' | 'socketsPerAddressMax' | 'strangerSocketsPerAddressMax' | 'firstMessageMs'
>

export type TcpOptions = {
  clock: Clock
  limits: SocketLimits
  /** Returns true if a known sender has recently used this IP address. */
  isKnown: (address: string) => boolean
  /** Called with the bytes of each message. */
  read: (message: Buffer, peer: Peer) => void
  /** Called with bytes that are not a SIP message. The connection then ends. */
  refuse: (bytes: Buffer, peer: Peer) => void
}

/** A known connection is closed if it carries no message for this long. */
const idleMs = 600_000
/** A connection is closed if its peer leaves more than this many bytes unread. */
const unsentBytesMax = 1_048_576
const strangers = 'strangers'
/** The owner for which connections opened by Parley count, in place of an organization. */
const ourselves = 'ourselves'

type Connection = { socket: Socket; address: string; place: Place; cancelEnd: () => void }

export class TcpConnections {
  readonly #options: TcpOptions
  /** The connections by remote address and port. */
  readonly #open = new Map<string, Connection>()
  /** Connections without a known sender's message, the oldest first. */
  readonly #strangers = new Set<Connection>()
  readonly #places: Capacity

  constructor(options: TcpOptions) {
    this.#options = options
    this.#places = dividedPlaces(options.limits.socketsMax)
  }

  /** Accepts an incoming connection, or closes it if there are too many. */
  accept(socket: Socket): void {
    const address = socket.remoteAddress
    const place = address === undefined || this.#isFull(address) ? null : this.#takeForStranger(socket)
    if (address === undefined || place === null) return void socket.destroy()
    const connection = this.#hold(socket, { transport: 'tcp', address, port: socket.remotePort ?? 0 }, place)
    this.#strangers.add(connection)
    this.#endAfter(connection, this.#options.limits.firstMessageMs)
  }

  /**
   * Sends bytes over the peer's connection, or over a new connection. If the bytes cannot be sent, they are dropped.
   */
  send(bytes: Buffer, peer: Peer): void {
    const { socket } = this.#open.get(keyOf(peer)) ?? this.#connect(peer) ?? {}
    if (socket === undefined) return
    socket.write(bytes)
    if (socket.writableLength > unsentBytesMax) socket.destroy()
  }

  /** Records the organization for the peer's connection, after its trunk has sent a message. */
  noteKnown(peer: Peer, organizationId: string): void {
    const connection = this.#open.get(keyOf(peer))
    if (connection === undefined || !this.#strangers.delete(connection)) return
    connection.place.end()
    const place = this.#take(organizationId, connection.socket)
    if (place === null) return void connection.socket.destroy()
    connection.place = place
    this.#endAfter(connection, idleMs)
  }

  close(): void {
    for (const { socket } of this.#open.values()) socket.destroy()
  }

  #connect(peer: Peer): Connection | null {
    const socket = new Socket()
    const place = this.#take(ourselves, socket)
    if (place === null) return null
    const connection = this.#hold(socket.connect({ host: peer.address, port: peer.port }), peer, place)
    this.#endAfter(connection, idleMs)
    return connection
  }

  #isFull(address: string): boolean {
    const { limits, isKnown } = this.#options
    let [all, unknown] = [0, 0]
    for (const connection of this.#open.values()) {
      if (connection.address !== address) continue
      all++
      if (this.#strangers.has(connection)) unknown++
    }
    return all >= limits.socketsPerAddressMax || (unknown >= limits.strangerSocketsPerAddressMax && !isKnown(address))
  }

  #take(owner: string, socket: Socket): Place | null {
    return this.#places.take(owner, 1, () => socket.destroy())
  }

  /** Reserves a place for a new stranger. If no place is free, the oldest stranger's connection is closed. */
  #takeForStranger(socket: Socket): Place | null {
    let place = this.#take(strangers, socket)
    for (const oldest of this.#strangers) {
      if (place !== null) break
      this.#strangers.delete(oldest)
      oldest.place.end()
      oldest.socket.destroy()
      place = this.#take(strangers, socket)
    }
    return place
  }

  #hold(socket: Socket, peer: Peer, place: Place): Connection {
    const key = keyOf(peer)
    const framing = new Framing()
    const connection: Connection = { socket, address: peer.address, place, cancelEnd: () => {} }
    this.#open.set(key, connection)
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      const messages = framing.take(chunk)
      if (messages === 'broken') {
        // A connection with invalid data is read no more. Otherwise each chunk would be joined to all earlier bytes.
        socket.pause()
        this.#options.refuse(framing.rest, peer)
        return void socket.destroySoon()
      }
      if (messages.length > 0 && !this.#strangers.has(connection)) this.#endAfter(connection, idleMs)
      for (const message of messages) this.#options.read(message, peer)
    })
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.destroy())
    socket.on('close', () => this.#closed(key, connection))
    return connection
  }

  #endAfter(connection: Connection, ms: number): void {
    connection.cancelEnd()
    connection.cancelEnd = this.#options.clock.after(ms, () => connection.socket.destroy())
  }

  #closed(key: string, connection: Connection): void {
    connection.cancelEnd()
    connection.place.end()
    this.#strangers.delete(connection)
    if (this.#open.get(key) === connection) this.#open.delete(key)
  }
}

const keyOf = ({ address, port }: Peer) => `${address} ${port}`
