import type { OutboundSocketListener } from './socket.ts'

/**
 * The maximum number of frames kept, more than any server sends before a request. If a server sends more, its socket is
 * ended.
 */
const framesMax = 64
const charactersMax = 1024 * 1024

/** Frames received before the socket has its listener, in order and bounded. */
export class PendingFrames {
  readonly #frames: (string | Uint8Array)[] = []
  #length = 0

  /** Adds a frame. Returns false if there are too many frames and the socket must be ended. */
  add(frame: string | Uint8Array): boolean {
    this.#frames.push(frame)
    this.#length += frame.length
    return this.#frames.length <= framesMax && this.#length <= charactersMax
  }

  deliver(listener: OutboundSocketListener): void {
    // Frames are removed one at a time: if the listener closes the socket, it gets no further frames.
    for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift()) {
      if (typeof frame === 'string') listener.text(frame)
      else listener.binary(frame)
    }
  }

  clear(): void {
    this.#frames.length = 0
  }
}
