/**
 * Holds the people who joined one session beside its caller. Their number is limited, and after a lost socket a person
 * has some time to reconnect. A person's token expires after a minute. If the person joins within this minute, the
 * token stays valid until the session ends or the person leaves with an `end` message.
 */
import type { JoinedPerson } from '../../conversation/parts/live-call.ts'
import { joinedMax } from '../../conversation/people/joined-people.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Clock } from '../../ports/system.ts'
import { Fault } from '../../records/fault.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import { seatedSink } from './seated-sink.ts'

type Joining = { join(person: JoinedPerson, media: MediaTransport): MediaSink }

/**
 * The maximum number of remembered people in a session. If a person is forgotten, the person's token can be used only
 * until its normal expiry, a minute after it was issued.
 */
const rememberedMax = 100

export class SessionPeople {
  readonly #clock: Clock
  readonly #reconnectMs: number
  readonly #joined = new Map<string, { cancelEnd: (() => void) | null }>()
  readonly #remembered = new Map<string, 'may_come_back' | 'left_for_good'>()

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

  /**
   * Throws ResourceFault `call_not_live` if the token came too late or its person has left for good, and Fault
   * `too_many_at_once` if the session is full.
   */
  require(identity: string, expiresAtMs: number): void {
    if (this.#joined.has(identity)) return
    const remembered = this.#remembered.get(identity)
    const isLate = remembered === undefined && expiresAtMs <= this.#clock.nowMs()
    if (isLate || remembered === 'left_for_good') throw new ResourceFault({ kind: 'call_not_live' })
    if (this.isFull) throw new Fault({ kind: 'too_many_at_once', limit: 'session' }, { retryAfterS: 1 })
  }

  /** Joins a person's socket. It replaces the person's older socket, so events from the older socket are ignored. */
  join(conversation: Joining, person: JoinedPerson, media: MediaTransport): MediaSink {
    const { identity } = person
    const inner = conversation.join(person, media)
    this.#remember(identity, 'may_come_back')
    this.#joined.get(identity)?.cancelEnd?.()
    const place = { cancelEnd: null as (() => void) | null }
    this.#joined.set(identity, place)
    const isNewest = () => this.#joined.get(identity) === place
    const leave = () => {
      if (!isNewest()) return
      this.#joined.delete(identity)
      inner.hangUp()
    }
    return seatedSink(inner, isNewest, {
      gone: () => {
        inner.gone()
        place.cancelEnd = this.#clock.after(this.#reconnectMs, leave)
      },
      hangUp: () => {
        this.#remember(identity, 'left_for_good')
        leave()
      },
    })
  }

  /** Called when the session is over. */
  close(): void {
    for (const { cancelEnd } of this.#joined.values()) cancelEnd?.()
    this.#joined.clear()
  }

  #remember(identity: string, as: 'may_come_back' | 'left_for_good'): void {
    this.#remembered.delete(identity)
    this.#remembered.set(identity, as)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > rememberedMax && oldest !== undefined) this.#remembered.delete(oldest)
  }
}
