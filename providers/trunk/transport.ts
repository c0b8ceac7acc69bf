/** The trunks' sockets: one UDP socket, and TCP connections on the same port. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6, type Server } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import { readMessage, type SipMessage } from './message.ts'
import { type SocketLimits, TcpConnections, type TcpOptions } from './tcp-connections.ts'
import { answerToUnreadable } from './unreadable.ts'

/** `size` is the message's length in bytes. */
export type Received = (message: SipMessage, peer: Peer, size: number) => void

export type TransportOptions = {
  host: string
  port: number
  clock: Clock
  log: Log
  limits: SocketLimits
  isKnown: TcpOptions['isKnown']
  received: Received
}

export class SipTransport {
  readonly #options: TransportOptions
  readonly #udp: UdpSocket
  readonly #tcp: Server
  readonly #connections: TcpConnections

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
    const { clock, limits, isKnown } = options
    const read = (message: Buffer, peer: Peer) => this.#read(message, peer)
    const refuse = (bytes: Buffer, peer: Peer) => this.#refuse(bytes, peer)
    this.#connections = new TcpConnections({ clock, limits, isKnown, read, refuse })
    tcp.on('connection', (socket) => this.#connections.accept(socket))
    tcp.on('error', (err) => options.log.warn({ err }, 'the TCP port of the trunks has failed'))
  }

  get port(): number {
    return this.#udp.address().port
  }

  /** Sends a message. A failure is ignored, as if the message were lost in the network. */
  send(bytes: Buffer, peer: Peer): void {
    if (peer.transport === 'udp') this.#udp.send(bytes, peer.port, peer.address, () => {})
    else this.#connections.send(bytes, peer)
  }

  /** Records the organization for this peer's trunk. */
  noteKnown(peer: Peer, organizationId: string): void {
    if (peer.transport === 'tcp') this.#connections.noteKnown(peer, organizationId)
  }

  async close(): Promise<void> {
    // Waits one turn of the event loop, so that the last messages are sent.
    await turn()
    this.#connections.close()
    this.#udp.close()
    this.#tcp.close()
    await Promise.all([once(this.#udp, 'close'), once(this.#tcp, 'close')])
  }

  #read(bytes: Buffer, peer: Peer): void {
    const message = readMessage(bytes)
    if (message === null) return this.#refuse(bytes, peer)
    try {
      this.#options.received(message, peer, bytes.length)
    } catch (err) {
      this.#options.log.error({ err }, 'a message of a trunk could not be handled')
    }
  }

  #refuse(bytes: Buffer, peer: Peer): void {
    const refusal = answerToUnreadable(bytes, peer)
    if (refusal !== null) this.send(refusal.answer, refusal.to)
  }
}
