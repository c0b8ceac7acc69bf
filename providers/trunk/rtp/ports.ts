/**
 * Opens the UDP ports for trunk audio, and runs one timer for all legs. There is no RTCP, because carriers do not
 * require it and SIP's BYE ends a call. So the odd port after each even port stays unused.
 */
import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock, Log } from '../../../domain/ports/system.ts'
import { Ticker } from '../../../runtime/timing/ticker.ts'
import type { RtpLeg, RtpLegOptions, RtpPorts } from '../rtp-ports.ts'
import { LegStream } from './leg-stream.ts'

export type RtpPortsOptions = {
  host: string
  /** The even ports in this range, both ends included. */
  ports: { from: number; to: number }
  /** Returns true if packets may be sent to an address known only from an SDP. */
  mayReach: (address: string) => boolean
  clock: Clock
  log: Log
}

export function createRtpPorts(options: RtpPortsOptions): RtpPorts {
  return new PortPool(options)
}

class PortPool implements RtpPorts {
  readonly #options: RtpPortsOptions
  readonly #streams = new Map<number, LegStream>()
  readonly #streamOf = new WeakMap<RtpLeg, LegStream>()
  /** Ports being tried or already bound. */
  readonly #usedPorts = new Set<number>()
  readonly #ticker: Ticker
  #next: number

  constructor(options: RtpPortsOptions) {
    this.#options = options
    this.#next = firstOf(options)
    this.#ticker = new Ticker(options.clock, () => this.#tick())
  }

  async open(leg: RtpLegOptions): Promise<RtpLeg> {
    const { ports, mayReach, log } = this.#options
    for (let left = Math.floor((ports.to - firstOf(this.#options)) / 2) + 1; left > 0; left--) {
      const port = this.#nextPort()
      if (this.#usedPorts.has(port)) continue
      this.#usedPorts.add(port)
      const socket = await this.#bind(port)
      if (socket === null) {
        this.#usedPorts.delete(port)
        continue
      }
      const stream = new LegStream({ socket, log, mayReach, closed: () => this.#release(port) }, leg)
      this.#streams.set(port, stream)
      this.#ticker.start()
      const opened: RtpLeg = {
        port,
        get jitterMs() {
          return stream.jitterMs
        },
        get quietMs() {
          return stream.quietMs
        },
        get packets() {
          return stream.packets
        },
        start: (remote) => stream.start(remote),
        sendDtmf: (digits) => stream.sendDtmf(digits),
        pressed: (digit, way) => stream.pressed(digit, way),
        connect: (other) => stream.connect(this.#streamOf.get(other) ?? null),
        close: () => stream.leave(),
      }
      this.#streamOf.set(opened, stream)
      return opened
    }
    throw new Error('All ports for the audio of trunks are in use.')
  }

  /**
   * Returns the next port in the range. A port is reused as late as possible, because its last call's packets may still
   * come.
   */
  #nextPort(): number {
    const port = this.#next
    this.#next = port + 2 > this.#options.ports.to ? firstOf(this.#options) : port + 2
    return port
  }

  /** Binds a socket to the port. Resolves with null if another process has the port. */
  #bind(port: number): Promise<Socket | null> {
    const { host } = this.#options
    const type = isIPv6(host) ? 'udp6' : 'udp4'
    const family = type === 'udp6' ? 6 : 4
    // Replaces the socket's DNS lookup, because all addresses are IP addresses.
    const lookup = (address: string, _options: object, done: (err: null, address: string, family: number) => void) =>
      done(null, address, family)
    const socket = createSocket({ type, lookup })
    return new Promise((resolve, reject) => {
      socket.once('error', (err: NodeJS.ErrnoException) => {
        socket.close()
        if (err.code === 'EADDRINUSE' || err.code === 'EACCES') resolve(null)
        else reject(err)
      })
      socket.bind({ port, address: host, exclusive: true }, () => {
        socket.removeAllListeners('error')
        resolve(socket)
      })
    })
  }

  #release(port: number): void {
    this.#streams.delete(port)
    this.#usedPorts.delete(port)
  }

  #tick(): boolean {
    for (const stream of this.#streams.values()) stream.tick()
    return this.#streams.size > 0
  }
}

const firstOf = ({ ports: { from } }: RtpPortsOptions) => from + (from % 2)
