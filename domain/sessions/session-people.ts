/**
 * The people who have joined one session: how many may, and how long a lost socket is waited for. The token of a person is
 * good for a minute, and once they have joined, for as long as the session lives.
 */
import { type JoinedPerson, joinedMax } from '../conversation/joined-people.ts'
import type { MediaSink, MediaTransport } from '../conversation/media.ts'
import { Fault } from '../fault.ts'
import type { Clock } from '../ports/system.ts'
import { ResourceFault } from '../resource-fault.ts'

type Joining = { join(person: JoinedPerson, media: MediaTransport): MediaSink }

/** Names of people that are remembered after they have left. A token of an older one is good no more. */
const rememberedMax = 100

export class SessionPeople {
  readonly #clock: Clock
  readonly #reconnectMs: number
  /** By identity. */
  readonly #joined = new Map<string, { seat: number; cancelEnd: (() => void) | null }>()
  readonly #remembered = new Set<string>()
  #seats = 0

  constructor(clock: Clock, reconnectMs: number) {
    this.#clock = clock
    this.#reconnectMs = reconnectMs
  }

  get isFull(): boolean {
    return this.#joined.size >= joinedMax
  }

  has(identity: string): boolean {
    return this.#joined.has(identity)
  }

  /** Throws ResourceFault `call_not_live` for a token that came too late, and Fault `too_many_at_once`. */
  require(identity: string, expiresAtMs: number): void {
    if (this.#joined.has(identity)) return
    if (!this.#remembered.has(identity) && expiresAtMs <= this.#clock.nowMs())
      throw new ResourceFault({ kind: 'call_not_live' })
    if (this.isFull) throw new Fault({ kind: 'too_many_at_once', limit: 'session' }, { retryAfterS: 1 })
  }

  /** The newest socket of a person has the seat, and what an older one still sends is ignored. */
  join(conversation: Joining, person: JoinedPerson, media: MediaTransport): MediaSink {
    const { identity } = person
    this.#remember(identity)
    this.#joined.get(identity)?.cancelEnd?.()
    const place = { seat: ++this.#seats, cancelEnd: null as (() => void) | null }
    this.#joined.set(identity, place)
    const inner = conversation.join(person, media)
    const isNewest = () => this.#joined.get(identity) === place
    const leave = () => {
      if (!isNewest()) return
      this.#joined.delete(identity)
      inner.hangUp()
    }
    return {
      audio: (samples) => void (isNewest() && inner.audio(samples)),
      played: (mark) => inner.played(mark),
      cleared: (mark, playedMs) => inner.cleared(mark, playedMs),
      userMessage: (text) => void (isNewest() && inner.userMessage(text)),
      contextualUpdate: (text) => void (isNewest() && inner.contextualUpdate(text)),
      dtmf: (digits) => inner.dtmf(digits),
      toolResult: (id, result, isError) => inner.toolResult(id, result, isError),
      back: (transport) => inner.back(transport),
      gone: () => {
        if (!isNewest()) return
        inner.gone()
        place.cancelEnd = this.#clock.after(this.#reconnectMs, leave)
      },
      hangUp: leave,
    }
  }

  /** The session is over. */
  close(): void {
    for (const { cancelEnd } of this.#joined.values()) cancelEnd?.()
    this.#joined.clear()
  }

  #remember(identity: string): void {
    this.#remembered.add(identity)
    const [oldest] = this.#remembered
    if (this.#remembered.size > rememberedMax && oldest !== undefined) this.#remembered.delete(oldest)
  }
}
