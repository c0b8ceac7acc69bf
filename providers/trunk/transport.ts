/** The trunks' sockets: one UDP socket, and TCP connections on the same port. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import { Framing } from './framing.ts'
import type { TrunkLimits } from './limits.ts'
import { readMessage, type SipMessage } from './message.ts'

/** `size` is the message's length in bytes. */
export type Received = (message: SipMessage, peer: Peer, size: number) => void

export type TransportOptions = {
  host: string
  port: number
  clock: Clock
  log: Log
  limits: Pick<TrunkLimits, 'socketsMax' | 'socketsPerAddressMax'>
  received: Received
}

/** A connection is closed if it carries no message for this long. */
const idleMs = 600_000
/** A connection is closed if its peer leaves more than this many bytes unread. */
const unsentBytesMax = 1_048_576

type Connection = { socket: Socket; address: string; cancelIdle: () => void }

export class SipTransport {
  readonly #options: TransportOptions
  readonly #udp: UdpSocket
  readonly #tcp: Server
  /** The TCP connections by remote address and port. */
  readonly #connections = new Map<string, Connection>()

  static async open(options: TransportOptions): Promise<SipTransport> {
    const { host, port } = options
    const udp = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    udp.bind({ address: host, port, exclusive: true })
    await once(udp, 'listening')
    const tcp = createServer()
    try {
      tcp.listen({ host, port, exclusive: true })
      await once(tcp, 'listening')
    } catch (error) {
      udp.close()
      throw error
    }
    return new SipTransport(options, udp, tcp)
  }

  private constructor(options: TransportOptions, udp: UdpSocket, tcp: Server) {
    this.#options = options
    this.#udp = udp
    this.#tcp = tcp
    udp.on('message', (bytes, { address, port }) => this.#read(bytes, { transport: 'udp', address, port }))
    udp.on('error', (err) => options.log.warn({ err }, 'the UDP socket of the trunks has failed'))
    tcp.on('connection', (socket) => this.#accept(socket))
    tcp.on('error', (err) => options.log.warn({ err }, 'the TCP port of the trunks has failed'))
  }

  get port(): number {
    return this.#udp.address().port
  }

  /** Sends a message. If it cannot be sent, it is lost, as in the network. */
  send(bytes: Buffer, peer: Peer): void {
    if (peer.transport === 'udp') return this.#udp.send(bytes, peer.port, peer.address, () => {})
    const { socket } = this.#connections.get(keyOf(peer)) ?? this.#connect(peer) ?? {}
    if (socket === undefined) return
    socket.write(bytes)
    if (socket.writableLength > unsentBytesMax) socket.destroy()
  }

  async close(): Promise<void> {
    // Waits one turn of the event loop, in which the last messages are sent.
    await turn()
    for (const { socket } of this.#connections.values()) socket.destroy()
    this.#udp.close()
    this.#tcp.close()
    await Promise.all([once(this.#udp, 'close'), once(this.#tcp, 'close')])
  }

  #read(bytes: Buffer, peer: Peer): void {
    const message = readMessage(bytes)
    if (message === null) return
    try {
      this.#options.received(message, peer, bytes.length)
    } catch (err) {
      this.#options.log.error({ err }, 'a message of a trunk could not be handled')
    }
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress
    const ofAddress = [...this.#connections.values()].filter((connection) => connection.address === address)
    const { socketsMax, socketsPerAddressMax } = this.#options.limits
    if (address === undefined || this.#connections.size >= socketsMax) return void socket.destroy()
    if (ofAddress.length >= socketsPerAddressMax) return void socket.destroy()
    this.#hold(socket, { transport: 'tcp', address, port: socket.remotePort ?? 0 })
  }

  #connect(peer: Peer): Connection | null {
    if (this.#connections.size >= this.#options.limits.socketsMax) return null
    return this.#hold(connect({ host: peer.address, port: peer.port }), peer)
  }

  #hold(socket: Socket, peer: Peer): Connection {
    const key = keyOf(peer)
    const framing = new Framing()
    const connection: Connection = { socket, address: peer.address, cancelIdle: () => {} }
    const startIdle = () => {
      connection.cancelIdle()
      connection.cancelIdle = this.#options.clock.after(idleMs, () => socket.destroy())
    }
    this.#connections.set(key, connection)
    startIdle()
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      const messages = framing.take(chunk)
      if (messages === 'broken') return void socket.destroy()
      if (messages.length > 0) startIdle()
      for (const message of messages) this.#read(message, peer)
    })
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      connection.cancelIdle()
      if (this.#connections.get(key) === connection) this.#connections.delete(key)
    })
    return connection
  }
}

const keyOf = ({ address, port }: Peer) => `${address} ${port}`
