/**
 * Detects when callers join their sessions' rooms at the media server. A room exists from the first join on, so a
 * regular request asks the media server for the existing rooms. A webhook would be faster, but it can be lost, must be
 * set up at the media server, and reaches one process, which may be dead.
 *
 *   waiting ──the room exists──► entering ──► entered ──the process has left it──► waiting
 *
 * A room is watched until it does not exist and its caller's token is too old to open it again. If a caller joins a
 * watched room after the session has ended, or after its process has died, the room is deleted, which disconnects the
 * caller.
 */
import type { MediaRooms } from '../../ports/media-rooms.ts'
import type { Clock, Log } from '../../ports/system.ts'
import { Fault } from '../../records/fault.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import type { TransportClaims } from '../../sessions/transport-token.ts'

/** A session in its room, held by this process. */
export interface RoomOccupant {
  /** Called at each check. Returns false if this process has left the room. */
  look(): boolean
  close(): Promise<void>
}

/**
 * Enters a session's room. Resolves with null if another process has the session. Rejects with ResourceFault if the
 * session is over or unknown, and with Fault if it cannot be joined now.
 */
export type EnterRoom = (claims: TransportClaims, room: string) => Promise<RoomOccupant | null>

export type RoomWatchDeps = {
  rooms: Pick<MediaRooms, 'existing' | 'delete'>
  enter: EnterRoom
  /** Resolves with the unfinished sessions in rooms, from all processes. */
  calls: () => Promise<readonly ActiveRoom[]>
  clock: Clock
  log: Log
}

export type WaitingRoom = { room: string; claims: TransportClaims }
/** `isElsewhere` is true if another process holds the session. */
export type ActiveRoom = WaitingRoom & { isElsewhere: boolean }

type Entry = ActiveRoom & { occupant: RoomOccupant | null; isEntering: boolean; notBeforeMs: number }

/**
 * The sessions of all processes are read this often, because a process may have died, and then another process must
 * enter its rooms.
 */
const sweepMs = 5000
/**
 * The pause after a failed attempt to enter a room. `elsewhereMs` applies if another process has the session or if this
 * process is full.
 */
const retryMs = 2000
const elsewhereMs = 5000
/** Media servers accept a token up to a minute after its expiry, because clocks differ between machines. */
const tokenLeewayMs = 90_000
/** The maximum number of room names in one request. */
const namesMax = 1000

export class RoomWatch {
  readonly #deps: RoomWatchDeps
  readonly #entries = new Map<string, Entry>()
  #sweepDueMs = 0
  #isAway = false
  #isClosed = false

  constructor(deps: RoomWatchDeps) {
    this.#deps = deps
  }

  add({ room, claims }: WaitingRoom): void {
    if (this.#entries.has(room)) return
    this.#entries.set(room, { room, claims, isElsewhere: false, occupant: null, isEntering: false, notBeforeMs: 0 })
  }

  /** Enters the rooms that exist, and forgets rooms with an expired token. Called about four times a second. */
  async look(): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs()
    if (nowMs >= this.#sweepDueMs) await this.#sweep(nowMs)
    const due = [...this.#entries.values()].filter((entry) => isDue(entry, nowMs))
    for (let at = 0; at < due.length; at += namesMax) await this.#lookAt(due.slice(at, at + namesMax))
  }

  /** Leaves all rooms. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#entries.values()].map((entry) => entry.occupant?.close() ?? Promise.resolve()))
  }

  async #sweep(nowMs: number): Promise<void> {
    this.#sweepDueMs = nowMs + sweepMs
    const rooms = await this.#deps.calls()
    for (const each of rooms) this.add(each)
    // Sessions missing from the list are kept: such a session is over, or it is new and waits for its caller.
    const elsewhere = new Set(rooms.filter(({ isElsewhere }) => isElsewhere).map(({ room }) => room))
    for (const entry of this.#entries.values()) entry.isElsewhere = elsewhere.has(entry.room)
  }

  async #lookAt(entries: readonly Entry[]): Promise<void> {
    const existing = await this.#existing(entries.map(({ room }) => room))
    if (existing === null || this.#isClosed) return
    const nowMs = this.#deps.clock.nowMs()
    for (const entry of entries) {
      if (existing.has(entry.room)) void this.#enter(entry)
      else if (entry.claims.expiresAtMs + tokenLeewayMs < nowMs) this.#entries.delete(entry.room)
    }
  }

  /** Asks which rooms exist. Returns null if the media server does not answer; only the first failure is logged. */
  async #existing(rooms: readonly string[]): Promise<ReadonlySet<string> | null> {
    const { log } = this.#deps
    try {
      const existing = await this.#deps.rooms.existing(rooms)
      if (this.#isAway) log.info({}, 'the media server answers again')
      this.#isAway = false
      return existing
    } catch (err) {
      if (!this.#isAway) log.error({ err }, 'the media server does not answer, so no session in a room can begin')
      this.#isAway = true
      return null
    }
  }

  /** Enters an existing room. Never rejects. */
  async #enter(entry: Entry): Promise<void> {
    const { clock, enter } = this.#deps
    entry.isEntering = true
    let pauseMs = 0
    try {
      entry.occupant = await enter(entry.claims, entry.room)
      if (entry.occupant === null) pauseMs = elsewhereMs
      else if (this.#isClosed) await entry.occupant.close()
    } catch (error) {
      pauseMs = await this.#refused(entry, error)
    }
    entry.notBeforeMs = clock.monotonicMs() + pauseMs
    entry.isEntering = false
  }

  /** Handles a failed attempt to enter a room. Returns the pause before the next attempt. Never rejects. */
  async #refused({ room }: Entry, error: unknown): Promise<number> {
    const { log, rooms } = this.#deps
    if (error instanceof Fault && error.kind === 'overloaded') return elsewhereMs
    if (!(error instanceof ResourceFault)) {
      log.warn({ err: error, room }, 'a room could not be entered')
      return retryMs
    }
    // The session is over. The room is deleted, because a caller in it would wait for nothing.
    try {
      await rooms.delete(room)
      return 0
    } catch (err) {
      log.warn({ err, room }, 'the room of a session that is over could not be deleted')
      return retryMs
    }
  }
}

function isDue(entry: Entry, nowMs: number): boolean {
  if (entry.occupant !== null && !entry.occupant.look()) entry.occupant = null
  return entry.occupant === null && !entry.isEntering && !entry.isElsewhere && entry.notBeforeMs <= nowMs
}
