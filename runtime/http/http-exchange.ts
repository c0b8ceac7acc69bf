import { CancelSignal } from '../engine/cancel-signal.ts'
import type { Context, Peer } from '../engine/handler.ts'
import type { Head } from '../engine/head.ts'
import type { Mount } from '../engine/options.ts'
import type { Transport } from '../engine/transport.ts'
import type { Placed } from '../roster.ts'
import type { Endpoint } from './endpoint.ts'
import type { UploadMemory } from './upload-memory.ts'

/** Thrown inside the lifecycle when the client has left: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone')
    this.name = 'ClientGone'
  }
}

/** One request and its answer. Handlers see it as their Context. */
export class HttpExchange implements Context, Placed {
  place = -1
  readonly requestId: string
  readonly startedMs: number
  readonly wire: Transport
  /** Null until the header lines were read. */
  head: Head | null = null
  caller: unknown = null
  /** Null until the body is whole, or where there is none. */
  content: { readonly hash: string } | null = null
  accept = ''
  endpoint: Endpoint | null = null
  mount: Mount | null = null
  /** Of a request to open a socket; '' for all others. */
  channelId = ''
  /** Of the request, when the mount lets that origin read answers. */
  corsOrigin = ''
  /** The value of `RateLimit`; '' where no quota is counted. */
  rateLimit = ''
  /** Under which the quota counts it; null when it does not. */
  source: string | null = null
  /** 0 until an answer has begun. */
  status = 0
  isGone = false
  /** Set when what is left of the request must not be read: the connection ends with the answer. */
  closesConnection = false
  /** The body on its way, to be told when the exchange ends without it. */
  receiver: { fail(error: Error): void } | null = null
  endSpan: ((status: number) => void) | null = null
  /** What waits for the client at this moment, to be told that it has gone. */
  onGone: (() => void) | null = null
  readonly signal = new CancelSignal()
  readonly #memory: UploadMemory
  #heldBytes = 0

  constructor(wire: Transport, requestId: string, startedMs: number, memory: UploadMemory) {
    this.wire = wire
    this.requestId = requestId
    this.startedMs = startedMs
    this.#memory = memory
  }

  get contentHash(): string | null {
    return this.content?.hash ?? null
  }

  get operation(): string {
    return this.endpoint?.operation.id ?? this.channelId
  }

  get peer(): Peer {
    const { host = '', origin = '', forwardedFor = '' } = this.head ?? {}
    return { address: this.wire.address(), host, origin, forwardedFor }
  }

  /** The client has left, or the server will wait no longer. */
  abort(reason: Error): void {
    this.signal.abort(reason)
  }

  leave(): void {
    this.isGone = true
    this.abort(new ClientGone())
    this.onGone?.()
  }

  hold(bytes: number): boolean {
    if (!this.#memory.hold(bytes)) return false
    this.#heldBytes += bytes
    return true
  }

  releaseMemory(): void {
    this.#memory.release(this.#heldBytes)
    this.#heldBytes = 0
  }

  /** Settles as `work` does, or fails with ClientGone as soon as the client leaves. */
  whileHere<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      work.then(resolve, reject)
      this.whenGone(reject)
    })
  }

  /** One at a time: who waits for something of the client is told when it has left. */
  whenGone(tell: (error: ClientGone) => void): void {
    this.onGone = () => tell(new ClientGone())
    if (this.isGone) this.onGone()
  }
}
