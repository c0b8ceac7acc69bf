/**
 * Relays sockets accepted by this process to the process that must serve them (the owner), on the same machine. The
 * owner holds the socket's session. This process forwards frames without reading them:
 *
 *   client ◄──frames──► this process ◄──messages──► the owner
 *
 * The owner admits the socket and answers its frames, as if the client had reached the owner directly. If the client
 * stops reading, frames queue up in this process. It notifies the owner, and the owner ends the socket.
 */
import { connect, type Socket as UnixSocket } from 'node:net'
import { Capacity, type Place } from '../../shares/capacity.ts'
import type { Shares } from '../../shares/owners.ts'
import { type FaultAnswer, Refusal } from '../handler.ts'
import type { Clock } from '../options.ts'
import type { Socket, SocketSession } from '../socket.ts'
import { socketPath } from './folder.ts'
import { encode, type Kind, kinds, MessageReader, readClose } from './messages.ts'
import type { RelayRequest } from './request.ts'

/** The owner (the process that must serve the socket) has this long to open or refuse the socket. */
const answerMs = 5000

export type RelayLimits = {
  /** The limit for sockets that this process relays at a time, and for sockets that it serves for other processes. */
  socketsMax: number
  messageBytesMax: number
  /**
   * The maximum number of bytes sent to an owner and not yet read. With more bytes, the owner counts as stuck, and the
   * socket ends.
   */
  queuedBytesMax: number
}

/** The owner has refused the socket. The owner's HTTP response goes to the client unchanged. */
export class RelayedFault extends Error {
  readonly answer: FaultAnswer

  constructor(answer: FaultAnswer) {
    super('the owner of the socket has refused it')
    this.answer = answer
  }
}

export class RelayClient {
  readonly #folder: string
  readonly #clock: Clock
  readonly #limits: RelayLimits
  readonly #places: Capacity

  constructor(folder: string, clock: Clock, limits: RelayLimits, { owners, part }: Shares) {
    this.#folder = folder
    this.#clock = clock
    this.#limits = limits
    this.#places = new Capacity({ max: limits.socketsMax, part }, owners)
  }

  /**
   * Resolves when the owner has opened the socket. `organizationId` is null if this process cannot know the
   * organization: the socket then counts for `opening` until the owner has named the organization. Throws RelayedFault,
   * or Refusal `overloaded` if the owner does not answer or the organization may relay no further socket now.
   */
  async open(owner: string, request: RelayRequest, organizationId: string | null): Promise<RelayLink> {
    let place = this.#take(organizationId ?? opening)
    const socket = connect(socketPath(this.#folder, owner))
    let isClosed = false
    socket.once('close', () => {
      isClosed = true
      place.end()
    })
    const link = new RelayLink(socket, this.#limits)
    const cancel = this.#clock.after(answerMs, () => link.close())
    try {
      await link.ask(request)
      if (organizationId !== null) return link
      place.end()
      place = this.#take(link.organizationId)
      // If the connection is closed already, no later event frees the new place, so it is freed here.
      if (isClosed) place.end()
      return link
    } catch (error) {
      link.close()
      throw error
    } finally {
      cancel()
    }
  }

  #take(organizationId: string): Place {
    const place = this.#places.take(organizationId)
    if (place === null) throw unreachable('too many sockets are relayed')
    return place
  }
}

/** The owner for which a socket counts until its organization is known. No organization has this id. */
const opening = 'opening'

export function unreachable(message: string): Refusal {
  return new Refusal('overloaded', { message, retryAfterS: 1 })
}

type Messages = { take(kind: number, content: Buffer): void; closed(): void }

/** The connection to the owner for one socket. */
export class RelayLink {
  readonly #socket: UnixSocket
  readonly #limits: RelayLimits
  #messages: Messages | null = null
  /** The organization for which the owner counts the socket. Set by the owner's first message. */
  organizationId = ''
  /** Messages received together with the owner's first message. */
  readonly #early: { kind: number; content: Buffer }[] = []

  constructor(socket: UnixSocket, limits: RelayLimits) {
    this.#socket = socket
    this.#limits = limits
    const reader = new MessageReader(limits.messageBytesMax, (kind, content) => this.#messages?.take(kind, content))
    socket.on('data', (chunk: Buffer) => {
      if (!reader.push(chunk)) socket.destroy()
    })
    // 'close' reports a broken connection. Without this listener the event would end the process.
    socket.on('error', () => {})
    socket.on('close', () => this.#messages?.closed())
  }

  /** Resolves when the owner has opened the socket. */
  ask(request: RelayRequest): Promise<void> {
    this.#write(kinds.request, JSON.stringify(request))
    return new Promise((resolve, reject) => {
      this.#messages = {
        take: (kind, content) => {
          if (kind === kinds.accepted) {
            this.organizationId = content.toString()
            return resolve(this.#keepEarly())
          }
          reject(kind === kinds.refused ? refusalOf(content) : unreachable('the owner of the socket does not answer'))
          this.close()
        },
        closed: () => reject(unreachable('the owner of the socket cannot be reached')),
      }
    })
  }

  /** Buffers messages until `start` sets their receiver. */
  #keepEarly(): void {
    this.#socket.pause()
    this.#messages = {
      take: (kind, content) => this.#early.push({ kind, content: Buffer.from(content) }),
      closed: () => {},
    }
  }

  /** Passes the owner's messages to `messages` from now on, beginning with the kept messages. */
  start(messages: Messages): void {
    this.#messages = messages
    for (const { kind, content } of this.#early.splice(0)) messages.take(kind, content)
    if (this.#socket.destroyed) queueMicrotask(() => messages.closed())
    this.#socket.resume()
  }

  /** Sends a message. Returns false if the owner is stuck: it has left too many bytes unread. */
  send(kind: Kind, content?: string | Uint8Array): boolean {
    this.#write(kind, content)
    return this.#socket.writableLength <= this.#limits.queuedBytesMax
  }

  close(): void {
    this.#socket.destroy()
  }

  #write(kind: Kind, content?: string | Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(encode(kind, content))
  }
}

function refusalOf(content: Buffer): RelayedFault {
  return new RelayedFault(JSON.parse(content.toString()) as FaultAnswer)
}

/**
 * The session for a client's socket. It passes the client's frames to the owner, and the owner's frames to the client.
 */
export class RelaySession implements SocketSession {
  readonly #link: RelayLink
  readonly #socket: Socket
  /**
   * True if the client does not read. Further audio is then dropped, because it would leave no room for the owner's
   * last frames.
   */
  #isSlow = false

  constructor(link: RelayLink, socket: Socket) {
    this.#link = link
    this.#socket = socket
    link.start({
      take: (kind, content) => this.#take(kind, content),
      closed: () => socket.close(restartCode, 'the session may be joined again'),
    })
  }

  onText(text: string): void {
    this.#pass(kinds.text, text)
  }

  onBytes(bytes: Uint8Array): void {
    this.#pass(kinds.bytes, bytes)
  }

  onRefused(): void {
    // Never called, because a relaying process does not check frames.
  }

  onDrained(): void {
    // Nothing to do: the owner slows down its frames itself.
  }

  onSlowReader(): void {
    this.#isSlow = true
    this.#link.send(kinds.slow)
  }

  onShutdown(): void {
    this.#socket.close(restartCode, 'service restart')
  }

  onGone(): void {
    this.#link.close()
  }

  #pass(kind: Kind, content: string | Uint8Array): void {
    if (!this.#link.send(kind, content)) this.#socket.close(laterCode, 'try again later')
  }

  #take(kind: number, content: Buffer): void {
    if (kind === kinds.bytes) {
      if (!this.#isSlow) this.#socket.sendBytes(content)
    } else if (kind === kinds.text) this.#socket.send(content.toString())
    else if (kind === kinds.close) {
      const { code, reason } = readClose(content)
      this.#socket.close(code, reason)
    }
  }
}

/** Close codes from the IANA registry. Both mean that the client may open another socket. */
const restartCode = 1012
const laterCode = 1013
