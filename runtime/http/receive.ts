/** The body as it arrives: bounded, counted, hashed, copied out of the carrier's buffer. What arrives after a refusal is read and dropped. */

import type { Engine } from '../engine/engine.ts'
import { Refusal } from '../engine/handler.ts'
import type { Head } from '../engine/head.ts'
import type { Body, Validate } from '../engine/operation.ts'
import type { Placed } from '../roster.ts'
import type { HttpExchange } from './http-exchange.ts'
import { MultipartContent } from './multipart.ts'
import { RawContent } from './raw-content.ts'
import type { StallWatch } from './stall-watch.ts'

/** What a body becomes. `take` owns the chunk. */
export interface Content {
  /** Hex SHA-256; to be asked for once `finish` has settled. */
  readonly hash: string
  /** Throws Refusal; `last` only saves work. */
  take(chunk: Buffer, last: boolean): void
  /** Rejects with Refusal when what came is not whole. */
  finish(): Promise<void> | undefined
  /** What the handler gets, once finished. `validate` is for the JSON in it. Throws Refusal. */
  read(validate: Validate | null): unknown
  /** Nothing more will come. Never throws. */
  destroy(): void
}

export class Receiver implements Placed {
  place = -1
  readonly content: Content
  readonly startedMs: number
  /** When the last byte came, monotonic. */
  progressMs: number
  readonly #exchange: HttpExchange
  readonly #bytesMax: number
  readonly #payloadBytesMax: number
  readonly #stalls: StallWatch
  #bytes = 0
  #outcome: 'arriving' | 'whole' | Error = 'arriving'
  #settle: (() => void) | null = null

  /** `bytesMax` bounds what is read; `payloadBytesMax` is what the client is told. */
  constructor(exchange: HttpExchange, content: Content, bytesMax: number, payloadBytesMax: number, stalls: StallWatch) {
    this.#exchange = exchange
    this.content = content
    this.#bytesMax = bytesMax
    this.#payloadBytesMax = payloadBytesMax
    this.#stalls = stalls
    this.startedMs = exchange.startedMs
    this.progressMs = exchange.startedMs
    stalls.add(this)
    exchange.receiver = this
    exchange.wire.onData((chunk, last) => this.#receive(chunk, last))
  }

  get bodyTimeoutMs(): number {
    return this.#exchange.wire.bodyTimeoutMs
  }

  /** Settles when the body is whole; rejects with a Refusal, or with ClientGone. */
  whole(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = () => {
        if (this.#outcome === 'whole') resolve()
        else if (this.#outcome !== 'arriving') reject(this.#outcome)
      }
      this.#settle()
      this.#exchange.whenGone(reject)
    })
  }

  /** The rest of the body will be read and dropped. */
  fail(error: Error): void {
    if (this.#outcome !== 'arriving') return
    this.#end(error)
    this.content.destroy()
  }

  stall(): void {
    this.#exchange.closesConnection = true
    this.fail(new Refusal('request_timeout', { message: 'the body did not arrive in time' }))
  }

  #receive(chunk: Uint8Array, last: boolean): void {
    if (this.#outcome !== 'arriving') return
    try {
      if (chunk.length > 0) this.#take(chunk, last)
      if (last) this.#finish()
    } catch (error) {
      this.fail(error as Error)
    }
  }

  #take(chunk: Uint8Array, last: boolean): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) throw tooLarge(this.#payloadBytesMax)
    if (!this.#exchange.hold(chunk.length)) throw noMemory()
    if (!last) this.progressMs = this.#stalls.nowMs()
    this.content.take(Buffer.from(chunk), last)
  }

  #finish(): void {
    if (this.#bytes === 0) throw new Refusal('malformed_body', { message: 'the body is empty' })
    const parsed = this.content.finish()
    if (!parsed) return this.#end('whole')
    // All bytes are here, so nothing can stall any more.
    this.#stalls.delete(this)
    parsed.then(
      () => this.#outcome === 'arriving' && this.#end('whole'),
      (error: Error) => this.fail(error),
    )
  }

  #end(outcome: 'whole' | Error): void {
    this.#outcome = outcome
    this.#stalls.delete(this)
    this.#settle?.()
  }
}

/**
 * To be called before the first await. Null: there is no body, and none is required. A refusal is handed back and not thrown, because a key
 * that is not valid comes first, and whether it is may take a while to find out.
 */
export function receive(engine: Engine, exchange: HttpExchange, body: Body, head: Head): Receiver | Refusal | null {
  try {
    return begin(engine, exchange, body, head)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function begin(engine: Engine, exchange: HttpExchange, body: Body, head: Head): Receiver | null {
  const { limits } = engine.options
  if (!head.hasBody) {
    if (!body.required) return null
    throw new Refusal('malformed_body', { message: 'a body is required' })
  }
  const encoding = head.contentEncoding.toLowerCase()
  if (encoding !== '' && encoding !== 'identity') {
    throw new Refusal('unsupported_media', { param: 'Content-Encoding', message: 'the body must be sent uncompressed' })
  }
  const type = mediaType(head.contentType)
  const isNamed = body.types.includes(type)
  if (!isNamed && !body.types.some((range) => covers(range, type))) throw unsupported(body)
  const isMultipart = isNamed && type === 'multipart/form-data'
  const partBytesMax = body.limit === 'audio' ? limits.audioBytesMax : limits.jsonBytesMax
  const bytesMax = isMultipart ? partBytesMax + limits.jsonBytesMax + framingBytes : partBytesMax
  if ((head.contentLength ?? 0) > bytesMax) throw tooLarge(partBytesMax)
  if ((head.contentLength ?? 0) > engine.memory.freeBytes) throw noMemory()
  const content = isMultipart
    ? new MultipartContent(head.contentType, body, partBytesMax, limits.jsonBytesMax)
    : new RawContent(head.contentType, isNamed && type === 'application/json')
  return new Receiver(exchange, content, bytesMax, partBytesMax, engine.stalls)
}

/** Boundaries and part headers. */
const framingBytes = 65_536

/** Lower case, without parameters. */
function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}

/** A body without a type is bytes of no known kind, so the widest range takes it. RFC 9110, 8.3. */
function covers(range: string, type: string): boolean {
  return range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}

function unsupported({ types }: Body): Refusal {
  return new Refusal('unsupported_media', { param: 'Content-Type', message: `the body must be ${types.join(' or ')}` })
}

function tooLarge(bytesMax: number): Refusal {
  return new Refusal('payload_too_large', { message: `the body is larger than ${bytesMax} bytes` })
}

function noMemory(): Refusal {
  return new Refusal('overloaded', { message: 'too many uploads at once', retryAfterS: 5 })
}
