/**
 * Sends the agent's audio as a track in a room. The caller's program does not report the playout, so this class
 * estimates it. Audio counts as played `travelMs` after the track has sent it.
 *
 *   frame ──► waiting ──► track (the room holds 100 ms) ──► caller
 *
 * Positions count samples from the beginning. After a clear they continue from the played position.
 */
import { frameMs } from '../../domain/ports/media.ts'
import type { EnteredRoom } from '../../domain/ports/media-rooms.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Placed } from '../../runtime/timing/roster.ts'
import { Watch } from '../../runtime/timing/watch.ts'
import type { AgentAudio, PlayedEvents } from './agent-audio.ts'

/**
 * The time from the track to the caller's loudspeaker: network and jitter buffer, measured with a browser on one
 * machine.
 */
export const travelMs = 60
/** The room holds at most this much audio. The limit is needed because the track's clock and ours may drift apart. */
const bufferMsMax = 120
/**
 * The maximum number of waiting frames: 3 s of audio. The conversation sends at most `sessions.aheadMs` (2 s) ahead of
 * playout.
 */
const waitingMax = 3000 / frameMs
const lookMs = 20
/**
 * The maximum number of marks to keep. They cover more than ten seconds of speech. A room that accepts no audio reaches
 * this limit.
 */
const marksMax = 128

/** One timer checks the marks in all rooms. */
export type RoomAudioWatch = Pick<Watch<RoomAudio>, 'add' | 'delete'>
export function createRoomAudioWatch(clock: Clock): RoomAudioWatch {
  return new Watch<RoomAudio>(clock, lookMs, (audio, nowMs) => audio.look(nowMs))
}

export type RoomAudioDeps = { clock: Clock; watch: RoomAudioWatch; failed: (error: unknown) => void }

type Mark = { name: string; at: number }

export class RoomAudio implements AgentAudio, Placed {
  place = -1
  readonly #deps: RoomAudioDeps
  readonly #room: Pick<EnteredRoom, 'play' | 'drop'>
  readonly #samplesPerMs: number
  readonly #events: PlayedEvents
  #waiting: Int16Array[] = []
  #isPlaying = false
  /** Positions: `#given` after all frames, `#accepted` after the frames handed to the room. */
  #given = 0
  #accepted = 0
  /** The time at which the track will have sent all audio in the room. */
  #sentMs = 0
  #marks: Mark[] = []
  #lastMark: Mark | null = null

  constructor(
    deps: RoomAudioDeps,
    room: Pick<EnteredRoom, 'play' | 'drop'>,
    sampleRateHz: number,
    events: PlayedEvents,
  ) {
    this.#deps = deps
    this.#room = room
    this.#samplesPerMs = sampleRateHz / 1000
    this.#events = events
  }

  frame(samples: Int16Array): void {
    if (this.#waiting.length >= waitingMax) return
    // The samples are copied, because the room keeps them and reads them from their buffer's start.
    this.#waiting.push(samples.slice())
    this.#given += samples.length
    if (!this.#isPlaying) void this.#play()
  }

  mark(name: string): void {
    this.#marks.push({ name, at: this.#given })
    if (this.#marks.length > marksMax) this.#marks.shift()
    this.#deps.watch.add(this)
  }

  /**
   * Drops all audio that the track has not sent. Audio already sent still reaches the caller, so it counts as played.
   */
  clear(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const played = this.#sent(nowMs)
    while (this.#marks[0] !== undefined && this.#marks[0].at <= played) this.#lastMark = this.#marks.shift() ?? null
    const playedMs = Math.max(0, (played - (this.#lastMark?.at ?? 0)) / this.#samplesPerMs)
    this.#waiting = []
    this.#room.drop()
    this.#given = this.#accepted = played
    this.#sentMs = nowMs
    this.#forgetMarks()
    const mark = this.#lastMark?.name ?? null
    // The event is raised a moment later, because the conversation is still inside its call to `clear`.
    queueMicrotask(() => this.#events.cleared(mark, Math.round(playedMs)))
  }

  /** Returns false, because marks are not sent to a room, so a client cannot answer them. */
  answered(): boolean {
    return false
  }

  /** Ends the audio when the caller has left. No event is raised any more. */
  close(): void {
    this.#waiting = []
    this.#room.drop()
    this.#forgetMarks()
  }

  look(nowMs: number): void {
    for (;;) {
      const [mark] = this.#marks
      if (mark === undefined) return this.#deps.watch.delete(this)
      if (mark.at > this.#sent(nowMs - travelMs)) return
      this.#marks.shift()
      this.#lastMark = mark
      this.#events.played(mark.name)
    }
  }

  /** Returns the track's position at this moment. */
  #sent(atMs: number): number {
    const aheadMs = Math.max(0, this.#sentMs - atMs)
    return Math.max(0, Math.round(this.#accepted - aheadMs * this.#samplesPerMs))
  }

  async #play(): Promise<void> {
    this.#isPlaying = true
    try {
      for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
        this.#take(frame.length / this.#samplesPerMs, frame.length)
        await this.#room.play(frame)
        const nowMs = this.#deps.clock.monotonicMs()
        this.#sentMs = Math.min(this.#sentMs, nowMs + bufferMsMax)
      }
    } catch (error) {
      this.#waiting = []
      this.#deps.failed(error)
    }
    this.#isPlaying = false
  }

  #take(ms: number, samplesCount: number): void {
    this.#sentMs = Math.max(this.#sentMs, this.#deps.clock.monotonicMs()) + ms
    this.#accepted += samplesCount
  }

  #forgetMarks(): void {
    this.#marks = []
    this.#deps.watch.delete(this)
  }
}
