import { CancelSource } from '../engine/cancel-signal.ts'
import type { Context, Peer } from '../engine/handler.ts'
import type { Head } from '../engine/head.ts'
import type { Mount } from '../engine/options.ts'
import type { LogFields, Trace } from '../engine/trace-context.ts'
import type { Transport } from '../engine/transport.ts'
import type { Placed } from '../timing/roster.ts'
import type { Endpoint } from './endpoint.ts'

/** Thrown inside the lifecycle if the client has left and cannot be answered. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone')
    this.name = 'ClientGone'
  }
}

/** Bounds the request body bytes in memory at a time, over all requests. */
export class UploadMemory {
  readonly #bytesMax: number
  #usedBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get freeBytes(): number {
    return this.#bytesMax - this.#usedBytes
  }

  /** Returns false, and holds nothing, if there is not enough memory. */
  hold(bytes: number): boolean {
    if (bytes > this.freeBytes) return false
    this.#usedBytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes
  }
}

/** One request and its answer. Handlers see it as their Context. */
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
  /** The request's origin, if the mount lets the origin read answers; else ''. */
  corsOrigin = ''
  /** The value for `RateLimit`; '' if the quota does not count the request. */
  rateLimit = ''
  /** The address under which the quota counts the request; null if it is not counted. */
  source: string | null = null
  /** 0 until an answer has begun. */
  status = 0
  isGone = false
  /** True if the rest of the request must not be read: the connection ends with the answer. */
  closesConnection = false
  /** The body's receiver. The engine fails it if the exchange ends before the body is whole. */
  receiver: { fail(error: Error): void } | null = null
  trace: Trace | null = null
  readonly logFields: LogFields = {}
  /** Called when the client leaves. Set by the code currently waiting for the client. */
  onGone: (() => void) | null = null
  readonly signal = new CancelSource()
  readonly #memory: UploadMemory
  #memoryBytes = 0

  constructor(transport: Transport, requestId: string, startedMs: number, memory: UploadMemory) {
    this.transport = transport
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
    const { host = '', origin = '', isForwarded = false, forwardedHost = '', forwardedProto = '' } = this.head ?? {}
    return { address: this.transport.address(), host, origin, isForwarded, forwardedHost, forwardedProto }
  }

  /** Aborts the signal, because the client has left or the server no longer waits. */
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
    this.#memoryBytes += bytes
    return true
  }

  releaseMemory(): void {
    this.#memory.release(this.#memoryBytes)
    this.#memoryBytes = 0
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
