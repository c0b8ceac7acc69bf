/** Tracks a pool's open sockets, so a socket over a broken network can be destroyed. */
import type net from 'node:net'

export class Sockets {
  /** For each open socket: true if the socket listens for notifications. */
  readonly #open = new Map<net.Socket, boolean>()

  /**
   * The driver calls this with each new socket. The driver removes a socket's listeners, so a 'close' listener would be
   * lost: closed sockets are dropped here instead.
   */
  readonly add = (socket: net.Socket, isListening: boolean): void => {
    for (const [earlier] of this.#open) if (earlier.destroyed) this.#open.delete(earlier)
    this.#open.set(socket, isListening)
  }

  /**
   * Returns a function to destroy the sockets that are open now. If a socket has received data before this function is
   * called, it stays open.
   */
  noteSilent(): () => void {
    const before = new Map([...this.#open.keys()].map((socket) => [socket, socket.bytesRead]))
    return () => {
      for (const [socket, bytesRead] of before) if (socket.bytesRead === bytesRead) socket.destroy()
    }
  }

  /** Destroys the sockets used for LISTEN. The driver then listens over a new socket. */
  destroyListening(): void {
    for (const [socket, isListening] of this.#open) if (isListening) socket.destroy()
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }
}
