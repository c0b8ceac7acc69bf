import { CancelSource } from '../engine/cancel-signal.ts'
import { type Context, type Peer, Refusal } from '../engine/handler.ts'
import type { Head } from '../engine/head.ts'
import type { EndBody, Mount } from '../engine/options.ts'
import type { LogFields, Trace } from '../engine/trace-context.ts'
import type { Transport } from '../engine/transport.ts'
import type { Capacity, GiveBack, Place } from '../shares/capacity.ts'
import type { Placed } from '../timing/roster.ts'
import type { Endpoint } from './endpoint.ts'

/** Thrown while a request is handled, if the client has disconnected and gets no response. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone')
    this.name = 'ClientGone'
  }
}

/** The limits for all requests together, divided among the requests' owners. */
export type RequestCapacity = {
  /** Requests in flight. */
  requests: Capacity
  /** Bytes in memory from request bodies. */
  bodyBytes: Capacity
}

/** One HTTP request and its response. Handlers see this object as their Context. */
export class HttpExchange implements Context, Placed {
  place = -1
  readonly requestId: string
  readonly startedMs: number
  readonly transport: Transport
  /** Null until the header lines are read. */
  head: Head | null = null
  caller: unknown = null
  /** Null until the body is whole, and if there is no body. */
  content: { readonly hash: string } | null = null
  rawBody: Uint8Array | null = null
  accept = ''
  endpoint: Endpoint | null = null
  mount: Mount | null = null
  /** The channel, if the request opens a socket; '' for all other requests. */
  channelId = ''
  /** The request's origin, if the mount lets the origin read responses; else ''. */
  corsOrigin = ''
  /** The value for `RateLimit`; '' if the quota does not count the request. */
  rateLimit = ''
  /** The IP address for which the quota counts the request. Null if the request is not counted. */
  source: string | null = null
  /** The status is 0 until a response has begun. */
  status = 0
  isGone = false
  /** True if the rest of the request must not be read: the connection ends with the response. */
  closesConnection = false
  /** The body's receiver. The HTTP engine fails it if the exchange ends before the body is whole. */
  receiver: { fail(error: Error): void } | null = null
  trace: Trace | null = null
  readonly logFields: LogFields = {}
  /** Called when the client leaves. Set by the code currently waiting for the client. */
  onGone: (() => void) | null = null
  readonly signal = new CancelSource()
  readonly #capacity: RequestCapacity
  #owner = ''
  #request: Place | null = null
  #bodyBytes: Place | null = null
  #giveBack: GiveBack | null = null
  #isOver = false
  #endBody: EndBody | null = null

  constructor(transport: Transport, requestId: string, startedMs: number, capacity: RequestCapacity) {
    this.transport = transport
    this.requestId = requestId
    this.startedMs = startedMs
    this.#capacity = capacity
  }

  get contentHash(): string | null {
    return this.content?.hash ?? null
  }

  get operation(): string {
    return this.endpoint?.operation.id ?? this.channelId
  }

  /** The owner (usually an organization) under which the request counts against the limits. */
  get owner(): string {
    return this.#owner
  }

  get peer(): Peer {
    const { host = '', origin = '', cookie = '', fetchSite = '' } = this.head ?? {}
    const { isForwarded = false, forwardedHost = '', forwardedProto = '' } = this.head ?? {}
    const { userAgent = '', authorization = '' } = this.head ?? {}
    const address = this.transport.address()
    const from = { address, source: this.source ?? address, userAgent, usesCookie: authorization === '' }
    return { ...from, host, origin, cookie, fetchSite, isForwarded, forwardedHost, forwardedProto }
  }

  /** Aborts the signal, because the client has disconnected or the server is forced to stop. */
  abort(reason: Error): void {
    this.signal.abort(reason)
  }

  leave(): void {
    this.isGone = true
    this.abort(new ClientGone())
    this.onGone?.()
  }

  /**
   * Counts the request and its bytes for `owner` (usually an organization), instead of an earlier owner. Returns false
   * if the owner's limits do not allow this now. With `awaitsBody`, the request can be refused in favour of another
   * owner's request until `keep` is called.
   */
  enter(owner: string, awaitsBody: boolean): boolean {
    // The look-up for an API key may end after its request was refused.
    if (this.#isOver) return false
    const bytes = this.#bodyBytes?.units ?? 0
    this.#endPlaces()
    this.#owner = owner
    this.#giveBack = awaitsBody ? () => this.#refuseBody() : null
    this.#request = this.#capacity.requests.take(owner, 1, this.#giveBack)
    return this.#request !== null && (bytes === 0 || this.hold(bytes))
  }

  /**
   * From now on the request is not refused in favour of another owner's request. Returns false if this has already
   * happened.
   */
  keep(): boolean {
    const hasRequest = this.#request?.keep() ?? true
    const hasBytes = this.#bodyBytes?.keep() ?? true
    return hasRequest && hasBytes
  }

  /** False if the owner's limits do not allow a body with this many bytes now. */
  admitsBody(bytes: number): boolean {
    return this.#capacity.bodyBytes.admits(this.#owner, bytes)
  }

  /** Counts bytes in memory until the request ends. Returns false, and counts nothing, if there is no room. */
  hold(bytes: number): boolean {
    if (this.#bodyBytes !== null) return this.#bodyBytes.add(bytes)
    this.#bodyBytes = this.#capacity.bodyBytes.take(this.#owner, bytes, this.#giveBack)
    return this.#bodyBytes !== null
  }

  /** Stops counting the request and its bytes against the limits. Afterwards `enter` returns false. */
  end(): void {
    this.#isOver = true
    this.#endPlaces()
    this.#endBody?.()
  }

  /** Calls `endBody` when the request has ended, or at once if it has ended before. */
  whenOver(endBody: EndBody): void {
    if (this.#isOver) endBody()
    else this.#endBody = endBody
  }

  #endPlaces(): void {
    this.#request?.end()
    this.#bodyBytes?.end()
    this.#request = null
    this.#bodyBytes = null
  }

  /**
   * Refuses the request while its body arrives, because the limit on requests in flight has no room for another owner's
   * request.
   */
  #refuseBody(): void {
    this.closesConnection = true
    this.receiver?.fail(givenBack())
  }

  /** Settles like `work`, or rejects with ClientGone as soon as the client leaves. */
  whileHere<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      work.then(resolve, reject)
      this.whenGone(reject)
    })
  }

  /**
   * Calls `reject` when the client leaves. A later call replaces an earlier call, because only one step waits for the
   * client at a time.
   */
  whenGone(reject: (error: ClientGone) => void): void {
    this.onGone = () => reject(new ClientGone())
    if (this.isGone) this.onGone()
  }
}

/** Makes the refusal for a request that is refused in favour of another owner's request. */
export function givenBack(): Refusal {
  return new Refusal('overloaded', { message: 'the body arrives too slowly for a busy server', retryAfterS: 1 })
}
