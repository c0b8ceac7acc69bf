/** Knows a pool's open sockets, so a socket over a broken network can be destroyed. */
import type net from 'node:net'

export class Sockets {
  readonly #open = new Set<net.Socket>()

  /** The driver calls this with each new socket. It also removes listeners, so closed sockets are found here. */
  readonly add = (socket: net.Socket): void => {
    for (const earlier of this.#open) if (earlier.destroyed) this.#open.delete(earlier)
    this.#open.add(socket)
  }

  /** Returns a function. It destroys each socket of this moment, unless the socket has received data until then. */
  noteSilent(): () => void {
    const before = new Map([...this.#open].map((socket) => [socket, socket.bytesRead]))
    return () => {
      for (const [socket, bytesRead] of before) if (socket.bytesRead === bytesRead) socket.destroy()
    }
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy()
  }
}
