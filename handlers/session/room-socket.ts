/** Makes a room's caller look like a media-channel socket: text frames are messages on the room's data channel. */
import type { EnteredRoom } from '../../domain/ports/media-rooms.ts'
import type { Socket } from '../../runtime/engine/socket.ts'

/** The longest message on a data channel. A longer message is not sent, and the session continues without it. */
const textBytesMax = 60_000
/** If more than this is unsent, the reader is too slow. */
const bufferBytesMax = 1_048_576

export type RoomSocketEvents = {
  slow(): void
  closed(): void
  failed(error: unknown): void
}

export class RoomSocket implements Socket {
  readonly #room: EnteredRoom
  readonly #events: RoomSocketEvents
  #bufferedBytes = 0
  #isClosed = false

  constructor(room: EnteredRoom, events: RoomSocketEvents) {
    this.#room = room
    this.#events = events
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  send(text: string): boolean {
    if (this.#isClosed) return false
    const bytes = Buffer.byteLength(text)
    if (bytes > textBytesMax) {
      this.#events.failed(new Error(`a frame of ${bytes} bytes is too long for a data channel`))
      return true
    }
    this.#bufferedBytes += bytes
    void this.#send(text, bytes)
    if (this.#bufferedBytes <= bufferBytesMax) return true
    queueMicrotask(() => this.#events.slow())
    return false
  }

  /** Sends nothing, because audio is a track in the room. */
  sendBytes(): boolean {
    return false
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    queueMicrotask(() => this.#events.closed())
  }

  async #send(text: string, bytes: number): Promise<void> {
    try {
      await this.#room.send(text)
    } catch (error) {
      this.#events.failed(error)
    }
    this.#bufferedBytes -= bytes
  }
}
