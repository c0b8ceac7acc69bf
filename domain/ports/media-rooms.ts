/**
 * Rooms on an external media server. A caller joins a session's room with a token, and the session's process joins it
 * as the agent. Audio is mono PCM16 at the session's rate.
 */

/** A room, and the caller in it. */
export type RoomSeat = { room: string; identity: string }

export interface MediaRooms {
  /** The address for clients to join. */
  readonly url: string
  /**
   * The token allows the caller only to join the room, speak, send data and listen. It opens the room until
   * `expiresAtMs`, also for a return.
   */
  mint(seat: RoomSeat, expiresAtMs: number): Promise<string>
  /**
   * Filters the names: keeps existing rooms. A room exists from the first join until it is deleted or all have left.
   */
  existing(rooms: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Joins as the agent. `open` is called once, before the first event. Rejects if the room cannot be joined in time.
   */
  enter(seat: RoomSeat, sampleRateHz: number, open: (room: EnteredRoom) => RoomEvents): Promise<void>
  /** Disconnects everybody in the room. A missing room is not an error. */
  delete(room: string): Promise<void>
  close(): Promise<void>
}

/** The agent's side of the room. After `leave` every method does nothing. */
export interface EnteredRoom {
  /** Sends a text to the caller, after the earlier texts. Rejects if it cannot be sent. */
  send(text: string): Promise<void>
  /** Queues samples for playing and keeps the array. Resolves when there is room for more. */
  play(samples: Int16Array): Promise<void>
  /** Drops queued samples not sent yet. */
  drop(): void
  /** Disconnects the caller, who may join again. */
  expel(): Promise<void>
  leave(): Promise<void>
}

export interface RoomEvents {
  /** The caller has joined, or is in the room already. */
  joined(): void
  left(): void
  text(text: string): void
  /** The caller's samples. They are lent until it returns. */
  audio(samples: Int16Array): void
  /** The agent is not in the room any more, although it has not left. */
  lost(): void
}
