import type { OutboundSocketListener } from './socket.ts'

/** More than any server greets with; one that goes on without being asked is ended. */
const framesMax = 64
const charactersMax = 1024 * 1024

/** What a socket brought before anybody listened: in order, and bounded. */
export class KeptFrames {
  readonly #frames: (string | Uint8Array)[] = []
  #length = 0

  /** False: that was too much, and the socket is to be ended. */
  add(frame: string | Uint8Array): boolean {
    this.#frames.push(frame)
    this.#length += frame.length
    return this.#frames.length <= framesMax && this.#length <= charactersMax
  }

  tell(listener: OutboundSocketListener): void {
    // One at a time off the list, so that a listener which closes the socket meanwhile hears no more.
    for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift()) {
      if (typeof frame === 'string') listener.text(frame)
      else listener.binary(frame)
    }
  }

  clear(): void {
    this.#frames.length = 0
  }
}
