/**
 * Serves sockets accepted by other processes on this machine. Each arrives over a Unix socket, closed to other users,
 * and is admitted and served like a socket from our port.
 */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket as UnixSocket } from 'node:net'
import type { Place } from '../../shares/capacity.ts'
import type { Connection } from '../../ws/connection.ts'
import type { FaultAnswer } from '../handler.ts'
import type { Clock } from '../options.ts'
import type { SocketTransport } from '../transport.ts'
import { socketPath } from './folder.ts'
import { encode, encodeClose, kinds, MessageReader } from './messages.ts'
import type { RelayLimits } from './outgoing.ts'
import { type RelayRequest, readRelayRequest } from './request.ts'

/** The longest wait for the request, which the other process sends at once. */
const requestMs = 5000

export type RelayOwnerDeps = {
  clock: Clock
  limits: RelayLimits
  /**
   * Resolves with an unopened connection and its place in the limit for relayed sockets, or with the refusal. Never
   * rejects.
   */
  admit(request: RelayRequest): Promise<{ connection: Connection; place: Place } | { refusal: FaultAnswer }>
}

export type RelayListener = { close: () => Promise<void> }

/** Accepts sockets from other processes. Rejects if no Unix socket can be made in the folder. */
export function listenForRelays(folder: string, name: string, deps: RelayOwnerDeps): Promise<RelayListener> {
  const path = socketPath(folder, name)
  const open = new Set<UnixSocket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    new RelayedSocket(socket, deps)
  })
  server.maxConnections = deps.limits.socketsMax
  return new Promise((resolve, reject) => {
    // Once the server listens, the promise has resolved and `reject` has no effect. So a failed accept is ignored.
    server.on('error', reject)
    server.listen(path, () => {
      chmodSync(path, 0o600)
      resolve({
        close: () =>
          new Promise((closed) => {
            for (const socket of open) socket.destroy()
            server.close(() => closed())
            rmSync(path, { force: true })
          }),
      })
    })
  })
}

/** The transport for one socket. Another process has the connection to its client. */
class RelayedSocket implements SocketTransport {
  readonly #socket: UnixSocket
  readonly #deps: RelayOwnerDeps
  #hasRequest = false
  /** Null before the connection is open and after its end. */
  #connection: Connection | null = null
  #awaitsDrain = false

  constructor(socket: UnixSocket, deps: RelayOwnerDeps) {
    this.#socket = socket
    this.#deps = deps
    const reader = new MessageReader(deps.limits.messageBytesMax, (kind, content) => this.#take(kind, content))
    const cancel = deps.clock.after(requestMs, () => {
      if (!this.#hasRequest) socket.destroy()
    })
    socket.on('data', (chunk: Buffer) => {
      if (!reader.push(chunk)) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      cancel()
      this.#leave(cutCode)
    })
  }

  send(message: string | Uint8Array, isBinary: boolean): number {
    this.#socket.write(encode(isBinary ? kinds.bytes : kinds.text, message))
    if (this.#socket.writableLength === 0) return sent
    this.#awaitDrain()
    return buffered
  }

  getBufferedAmount(): number {
    return this.#socket.writableLength
  }

  end(code: number, reason: string): void {
    if (this.#connection === null) return
    this.#socket.end(encodeClose(code, reason))
    this.#leave(code)
  }

  close(): void {
    this.#leave(cutCode)
    this.#socket.destroy()
  }

  #take(kind: number, content: Buffer): void {
    if (kind === kinds.request && !this.#hasRequest) {
      this.#hasRequest = true
      void this.#open(readRelayRequest(content.toString()))
    } else if (kind === kinds.text || kind === kinds.bytes) this.#connection?.receive(content, kind === kinds.bytes)
    else if (kind === kinds.slow) this.#connection?.readerIsSlow()
    else this.#socket.destroy()
  }

  async #open(request: RelayRequest | null): Promise<void> {
    const socket = this.#socket
    if (request === null) return void socket.destroy()
    const admitted = await this.#deps.admit(request)
    if ('refusal' in admitted) return void socket.end(encode(kinds.refused, JSON.stringify(admitted.refusal)))
    const { connection, place } = admitted
    if (socket.destroyed) {
      place.end()
      return connection.gone(cutCode)
    }
    socket.once('close', () => place.end())
    socket.write(encode(kinds.accepted, place.owner))
    this.#connection = connection
    this.#connection.opened(this)
  }

  #awaitDrain(): void {
    if (this.#awaitsDrain) return
    this.#awaitsDrain = true
    // If the write fails, the connection has ended, and 'close' follows.
    this.#socket.write(nothing, (error) => error || this.#drained())
  }

  #drained(): void {
    this.#awaitsDrain = false
    if (this.#socket.writableLength > 0) this.#awaitDrain()
    this.#connection?.drained()
  }

  #leave(code: number): void {
    const connection = this.#connection
    this.#connection = null
    connection?.gone(code)
  }
}

/** The two results of `send`: everything was written, or some bytes are buffered. */
const sent = 1
const buffered = 0
/** RFC 6455, 7.4.1: the close code for a connection's end without a close frame. */
const cutCode = 1006
const nothing = new Uint8Array(0)
