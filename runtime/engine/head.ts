/**
 * The one pass over a request's header lines. It keeps the few that the engine or the operation reads, and notices what makes the end of
 * the body ambiguous: uWebSockets.js takes the first of two Content-Length lines (an empty one is 0) and any Transfer-Encoding for chunked,
 * so that a proxy that reads them otherwise can be made to smuggle a request. RFC 9112, 6.3 and 3.2.
 */
import type { Transport } from './transport.ts'

export class Head {
  contentType = ''
  accept = ''
  authorization = ''
  origin = ''
  host = ''
  traceparent = ''
  forwardedFor = ''
  preflightMethod = ''
  /** Declared headers under their lower-case names in the spec. */
  readonly declared: Record<string, string> = {}
  /** A declared header that came twice: a proxy may have read the other one. */
  repeated: string | null = null
  contentEncoding = ''
  /** Null: not declared. */
  contentLength: number | null = null
  isChunked = false
  /** False: the connection must be closed without an answer. An answer would let the engine read on, and run what was smuggled. */
  isSound = true
  #hosts = 0

  take(name: string, value: string, wanted: ReadonlyMap<string, string>): void {
    switch (name) {
      case 'content-length':
        if (this.contentLength !== null || !/^\d{1,15}$/.test(value)) this.isSound = false
        this.contentLength = Number(value)
        break
      case 'transfer-encoding':
        if (this.isChunked || value.toLowerCase() !== 'chunked') this.isSound = false
        this.isChunked = true
        break
      case 'host':
        if (++this.#hosts > 1) this.isSound = false
        this.host = value
        break
      case 'content-type':
        this.contentType = value
        break
      case 'content-encoding':
        this.contentEncoding = value
        break
      case 'accept':
        this.accept = this.accept === '' ? value : `${this.accept}, ${value}`
        break
      case 'authorization':
        this.authorization = value
        break
      case 'origin':
        this.origin = value
        break
      case 'traceparent':
        this.traceparent = value
        break
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === '' ? value : `${this.forwardedFor},${value}`
        break
      case 'access-control-request-method':
        this.preflightMethod = value
        break
    }
    const declared = wanted.get(name)
    if (declared === undefined) return
    if (this.declared[declared] === undefined) this.declared[declared] = value
    else this.repeated ??= declared
  }

  get hasBody(): boolean {
    return this.isChunked || (this.contentLength ?? 0) > 0
  }
}

/** To be called before the first await. `wanted` maps names on the wire to names in the spec. */
export function readHead(wire: Transport, wanted: ReadonlyMap<string, string>): Head {
  const head = new Head()
  wire.eachHeader((name, value) => {
    // The walk reads UTF-8 and replaces what is none; asked for by name, a value is latin1 (RFC 9110, 5.5), and a character a byte.
    head.take(name, wanted.has(name) ? wire.header(name) : value, wanted)
  })
  if (head.isChunked && head.contentLength !== null) head.isSound = false
  return head
}
