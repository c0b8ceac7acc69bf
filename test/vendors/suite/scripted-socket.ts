/** A socket whose server sends frames in the order of the test, for tests that depend on the order. */
import type { OutboundSocket, OutboundSocketListener } from '../../../runtime/outbound/socket.ts'

export class ScriptedSocket implements OutboundSocket {
  readonly bufferedBytes = 0
  /** The sent text messages, and the byte counts of the sent binary messages. */
  readonly sent: (string | number)[] = []
  isOpen = true
  #listener: OutboundSocketListener | null = null

  listen(listener: OutboundSocketListener): void {
    this.#listener = listener
  }

  send(data: string | Uint8Array): void {
    this.sent.push(typeof data === 'string' ? data : data.length)
  }

  close(): void {
    this.isOpen = false
  }

  say(message: object): void {
    this.#listener?.text(JSON.stringify(message))
  }
}
