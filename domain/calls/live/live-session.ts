/**
 * One session with media in this process. Its first socket begins the conversation. If the newest socket is lost, the
 * session waits for another socket. Further people join through their own sockets.
 *
 *   claimed ──begin──► live ──gone──► waiting ──begin──► live
 *      │                 │               └── reconnectMs passed ──► over: user_disconnected
 *      └─drop──► over    └── the conversation ends ──► over
 */
import type { EndLease } from '../../access/limits.ts'
import type {
  CallHolder,
  Conversation,
  LiveCall,
  RegisteredCall,
  StartConversation,
} from '../../conversation/parts/live-call.ts'
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Clock } from '../../ports/system.ts'
import type { Call } from '../../records/call.ts'
import type { Caller } from '../../records/organization.ts'
import type { ClientOverride } from '../../records/pipeline.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import type { EndReason } from '../../records/states/call.ts'
import type { TransportClaims } from '../../sessions/transport-token.ts'
import type { ClaimedCalls } from './claimed-calls.ts'
import { seatedSink } from './seated-sink.ts'
import { type JoinedSession, type SessionSeat, seatOf } from './seats.ts'
import { SessionPeople } from './session-people.ts'

export type LiveSessionDeps = {
  startConversation: StartConversation
  claimed: Pick<ClaimedCalls, 'begun' | 'abandon'>
  clock: Clock
  /** If a socket is lost, its session waits this long for a new socket. */
  reconnectMs: number
}

export type LiveSessionInput = {
  /** The conversation's settings. A phone call gets its final settings when its conversation begins. */
  settings: LiveCall
  caller: Caller
  /** Ends a phone call before its conversation begins. Null for a browser's session. */
  holder: CallHolder | null
  /** Ends the concurrency lease, and stops counting the session against this process's limit for live sessions. */
  endLease: EndLease
  /** Called once, when the session is over. */
  over: () => void
}

export class LiveSession implements RegisteredCall {
  readonly people: SessionPeople
  readonly #deps: LiveSessionDeps
  readonly #input: LiveSessionInput
  #settings: LiveCall
  /** Null until the first socket has begun the conversation. */
  #conversation: Conversation | null = null
  /** Cancels the session's scheduled end after a lost socket. */
  #cancelEnd: (() => void) | null = null
  /** The number of the newest socket. Events from older sockets are ignored. */
  #newestSocket = 0
  #isOver = false

  constructor(deps: LiveSessionDeps, input: LiveSessionInput) {
    this.people = new SessionPeople(deps.clock, deps.reconnectMs)
    this.#deps = deps
    this.#input = input
    this.#settings = input.settings
  }

  get call(): Call {
    return this.#settings.call
  }

  get conversation(): Conversation | null {
    return this.#conversation
  }

  /** Ends the session. Returns false if the session has neither a conversation nor a phone call that could end. */
  end(reason: EndReason, clientReason?: string): boolean {
    const party = this.#conversation ?? this.#input.holder
    party?.end(reason, clientReason)
    return party !== null
  }

  /** Begins the conversation of a phone call. */
  begin(settings: LiveCall, transport: MediaTransport): MediaSink {
    this.#settings = settings
    return this.joined([]).begin(transport)
  }

  /** Ends the session, because its phone call has ended without a conversation. */
  drop(): void {
    this.#deps.claimed.begun(this.call.id)
    this.#ended()
  }

  /**
   * Joins a socket to the session: `begin` connects it to the conversation. If a newer socket has begun meanwhile, this
   * socket never begins.
   */
  joined(unserved: readonly ClientOverride[]): JoinedSession {
    const isBegun = () => this.#conversation !== null
    return {
      unserved,
      get resumed() {
        return isBegun()
      },
      begin: (transport) => {
        this.#cancelEnd?.()
        this.#cancelEnd = null
        const socket = ++this.#newestSocket
        const existing = this.#conversation
        existing?.back(transport)
        const conversation = existing ?? this.#begun(transport)
        const isNewest = () => this.#newestSocket === socket
        const ends = { gone: () => this.#gone(conversation), hangUp: () => conversation.hangUp() }
        return seatedSink(conversation, isNewest, ends)
      },
    }
  }

  /** Admits a further person to this session beside its caller. */
  seatOfPerson({ identity, expiresAtMs, person }: TransportClaims): SessionSeat {
    const { people } = this
    const requireSeat = () => this.#requireSeat(identity, expiresAtMs)
    requireSeat()
    const join = () => {
      requireSeat()
      const who = { identity, displayName: person?.displayName ?? null }
      return Promise.resolve({
        unserved: [],
        resumed: people.has(identity),
        // A transfer may have begun meanwhile.
        begin: (transport: MediaTransport) => people.join(requireSeat(), who, transport),
      })
    }
    return { ...seatOf(this.call, true, join), identity, clientOverrides: [] }
  }

  /** Returns the conversation. Throws if the person cannot join now. */
  #requireSeat(identity: string, expiresAtMs: number): Conversation {
    const conversation = this.#conversation
    if (conversation?.isHandedOver) throw new ResourceFault({ kind: 'call_not_live', because: 'with_recipient' })
    if (conversation === null || conversation.isOver || this.#isOver) throw new ResourceFault({ kind: 'call_not_live' })
    // During a transfer, a person may reconnect, but no new person may join.
    if (conversation.isTransferring && !this.people.has(identity))
      throw new ResourceFault({ kind: 'call_not_live', because: 'transferring' })
    this.people.require(identity, expiresAtMs)
    return conversation
  }

  /** Begins the conversation. If an end was requested before, the conversation ends at once. */
  #begun(transport: MediaTransport): Conversation {
    const conversation = this.#started(transport)
    this.#conversation = conversation
    const end = this.#deps.claimed.begun(this.call.id)
    if (end !== null) conversation.end(end.reason, end.clientReason)
    return conversation
  }

  /** Starts the conversation. If this fails, the call ends. */
  #started(transport: MediaTransport): Conversation {
    const { caller, holder } = this.#input
    try {
      return this.#deps.startConversation(this.#settings, caller, transport, () => {
        this.#ended()
        holder?.conversationOver()
      })
    } catch (error) {
      this.#ended()
      void this.#deps.claimed.abandon(this.call, this.call.id)
      throw error
    }
  }

  #gone(conversation: Conversation): void {
    if (this.#isOver) return
    conversation.gone()
    this.#cancelEnd?.()
    this.#cancelEnd = this.#deps.clock.after(this.#deps.reconnectMs, () => {
      // After a transfer the agent's conversation is over. The caller talks to the recipient over the carrier's
      // connection, so the media stream is not needed.
      if (!conversation.isOver) conversation.end('user_disconnected')
    })
  }

  #ended(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelEnd?.()
    this.#input.endLease()
    this.people.close()
    this.#input.over()
  }
}
