import type { SocketOwner, SocketTransport } from '../engine/transport.ts'

/** Sends every message back, so conformance suites can test the transport's framing. */
export class Echo implements SocketOwner {
  #transport: SocketTransport | null = null

  opened(transport: SocketTransport): void {
    this.#transport = transport
  }

  receive(message: Uint8Array, isBinary: boolean): void {
    const transport = this.#transport
    if (transport === null) return
    if (transport.getBufferedAmount() > bufferedBytesMax) return transport.close()
    transport.send(isBinary ? message : Buffer.from(message).toString('utf8'), isBinary)
  }

  drained(): void {}

  gone(): void {
    this.#transport = null
  }
}

/** Conformance suites send messages up to this size. */
export const echoBytesMax = 16 * 1024 * 1024
const bufferedBytesMax = 4 * echoBytesMax
