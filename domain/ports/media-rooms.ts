/**
 * Rooms on an external media server. A caller joins a session's room with a token, and the session's process joins it
 * as the agent. Audio is mono PCM16 at the session's rate.
 */

/** Names a room and one participant. */
export type RoomSeat = { room: string; identity: string }

export interface MediaRooms {
  /** The media server's URL for clients. */
  readonly url: string
  /**
   * Makes a token that opens the room until `expiresAtMs`, even if the caller leaves and returns. The caller may only
   * join the room, speak, send data and listen.
   */
  mint(seat: RoomSeat, expiresAtMs: number): Promise<string>
  /**
   * Returns the existing rooms among these names. A room exists from the first join until it is deleted or all have
   * left.
   */
  existing(rooms: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Joins the room as the agent. `open` is called once, before the first event. Rejects if the room cannot be joined in
   * time.
   */
  enter(seat: RoomSeat, sampleRateHz: number, open: (room: EnteredRoom) => RoomEvents): Promise<void>
  /** Deletes the room, which disconnects all participants. A missing room is not an error. */
  delete(room: string): Promise<void>
  close(): Promise<void>
}

/** The agent's side in a room. After `leave` every method does nothing. */
export interface EnteredRoom {
  /** Sends a text to the caller, after earlier texts. Rejects if it cannot be sent. */
  send(text: string): Promise<void>
  /**
   * Queues samples for playing. The queue keeps the array, so the calling code must not reuse it. Resolves when the
   * queue can take more.
   */
  play(samples: Int16Array): Promise<void>
  /** Drops queued samples not sent yet. */
  drop(): void
  /** Disconnects the caller. The caller may join again. */
  expel(): Promise<void>
  leave(): Promise<void>
}

export interface RoomEvents {
  /** Called when the caller has joined, also if this was before the agent joined. */
  joined(): void
  left(): void
  text(text: string): void
  /** Receives the caller's samples. The array is valid only until the function returns. */
  audio(samples: Int16Array): void
  /** Called if the agent was disconnected from the room without `leave`. */
  lost(): void
}
