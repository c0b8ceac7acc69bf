/**
 * A datagram from this process to itself. The kernel delivers the bytes of its loopback interface in order. So when the
 * datagram has come, all earlier bytes have reached their sockets. On a calm machine this takes 20 µs. On a busy
 * machine a thread of the kernel delivers the bytes, and it can be late.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

export class LoopbackMarker {
  /** One datagram causes this many event loop events. */
  readonly events = 1
  #opening: Promise<Socket> | undefined
  readonly #waiting: (() => void)[] = []

  /** Resolves when all bytes that the process has sent over loopback have reached their sockets. */
  async passed(): Promise<void> {
    this.#opening ??= this.#open()
    const socket = await this.#opening
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      socket.ref().send('')
    })
  }

  async #open(): Promise<Socket> {
    const socket = createSocket('udp4')
    socket.on('message', () => {
      this.#waiting.shift()?.()
      // The socket keeps the process alive only while a datagram is under way.
      if (this.#waiting.length === 0) socket.unref()
    })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    socket.connect(socket.address().port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
}
