/**
 * A datagram that this process sends to itself. The kernel hands on the bytes of a loopback interface in the order in
 * which they were sent, so once the datagram has come, all bytes sent before it have reached their sockets. On a calm
 * machine this takes 20 µs. If the machine is busy, a thread of the kernel hands the bytes on, and can be late.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

export class LoopbackMarker {
  /** Counts the event loop's events for one datagram. */
  readonly events = 1
  #socket: Promise<Socket> | undefined
  #awaited: (() => void)[] = []

  /** Resolves when all bytes that the process has sent over loopback have reached their sockets. */
  async passed(): Promise<void> {
    this.#socket ??= this.#open()
    const socket = await this.#socket
    await new Promise<void>((resolve) => {
      this.#awaited.push(resolve)
      socket.send('')
    })
  }

  async #open(): Promise<Socket> {
    const socket = createSocket('udp4').unref()
    socket.on('message', () => this.#awaited.shift()?.())
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    socket.connect(socket.address().port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
}
