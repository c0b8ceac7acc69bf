/**
 * The people who have joined one session: how many may, and how long a lost socket is waited for. The token of a person is
 * good for a minute, and once they have joined, for as long as the session lives or until they leave by `end`.
 */
import type { JoinedPerson } from '../../conversation/parts/live-call.ts'
import { joinedMax } from '../../conversation/people/joined-people.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Clock } from '../../ports/system.ts'
import { Fault } from '../../records/fault.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import { seatedSink } from './seated-sink.ts'

type Joining = { join(person: JoinedPerson, media: MediaTransport): MediaSink }

/** People who are remembered after they have left. The token of an older one is good for its minute alone. */
const rememberedMax = 100

export class SessionPeople {
  readonly #clock: Clock
  readonly #reconnectMs: number
  /** By identity. */
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

  /** Throws ResourceFault `call_not_live` for a token that came too late or whose person has left for good, and Fault `too_many_at_once`. */
  require(identity: string, expiresAtMs: number): void {
    if (this.#joined.has(identity)) return
    const remembered = this.#remembered.get(identity)
    const isLate = remembered === undefined && expiresAtMs <= this.#clock.nowMs()
    if (isLate || remembered === 'left_for_good') throw new ResourceFault({ kind: 'call_not_live' })
    if (this.isFull) throw new Fault({ kind: 'too_many_at_once', limit: 'session' }, { retryAfterS: 1 })
  }

  /** The newest socket of a person has the seat, and what an older one still sends is ignored. */
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

  /** The session is over. */
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
