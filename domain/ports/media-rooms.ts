/**
 * Rooms on a media server that is not ours. A caller joins the room of a session with a token, and the process that
 * holds the session joins it as the agent. Audio is mono PCM16 at the rate of the session.
 */

/** A room, and the caller in it. */
export type RoomSeat = { room: string; identity: string }

export interface MediaRooms {
  /** The address at which clients join. */
  readonly url: string
  /** With the token the caller may join the room, speak, send data and listen, and nothing else. It opens the room until `expiresAtMs`, also for a return. */
  mint(seat: RoomSeat, expiresAtMs: number): Promise<string>
  /** Those of the rooms that exist. A room exists from the first join on, until it is deleted or all have left. */
  existing(rooms: readonly string[]): Promise<ReadonlySet<string>>
  /** Joins as the agent. `open` is called once, before the first event. Rejects when the room cannot be joined in time. */
  enter(seat: RoomSeat, sampleRateHz: number, open: (room: EnteredRoom) => RoomEvents): Promise<void>
  /** Everybody in the room is disconnected. A room that does not exist is no error. */
  delete(room: string): Promise<void>
  close(): Promise<void>
}

/** The room as the agent sees it. After `leave` every method does nothing. */
export interface EnteredRoom {
  /** Sends a text to the caller, after those before it. Rejects when it cannot be sent. */
  send(text: string): Promise<void>
  /** Plays samples after those before them, and keeps them. Resolves when there is room for more. */
  play(samples: Int16Array): Promise<void>
  /** Drops what `play` has taken and was not sent yet. */
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
  /** Samples of the caller. They are lent until it returns. */
  audio(samples: Int16Array): void
  /** The agent is not in the room any more, although it has not left. */
  lost(): void
}
