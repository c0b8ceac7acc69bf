/**
 * The only pass over a request's header lines. It keeps the few lines needed by the HTTP engine or the operation, and
 * finds lines that leave the body's end ambiguous. uWebSockets.js uses the first of two Content-Length lines (an empty
 * line counts as 0) and treats any Transfer-Encoding as chunked. If a proxy reads such lines in another way, an
 * attacker can smuggle a request. A proxy with CGI or FastCGI reads `transfer_encoding` as Transfer-Encoding. RFC 9112,
 * 6.3 and 3.2.
 */
import type { Transport } from './transport.ts'

export class Head {
  contentType = ''
  accept = ''
  authorization = ''
  cookie = ''
  userAgent = ''
  fetchSite = ''
  origin = ''
  host = ''
  traceparent = ''
  tracestate = ''
  forwardedFor = ''
  forwardedHost = ''
  forwardedProto = ''
  #hasProxyHeader = false
  preflightMethod = ''
  /** Declared headers, by the spec's names in lower case. */
  readonly declared: Record<string, string> = {}
  /** The first declared header that came in two lines. It is refused, because a proxy may have read the other line. */
  repeated: string | null = null
  contentEncoding = ''
  /** Null if the header is absent. */
  contentLength: number | null = null
  isChunked = false
  /**
   * True if the Connection header says `close`: the client reads no second response from this connection. RFC 9112,
   * 9.6.
   */
  asksToClose = false
  /**
   * If false, the connection must be closed without a response. After a response, uWebSockets.js would read on and run
   * a smuggled request.
   */
  isSound = true
  hosts = 0

  take(name: string, value: string, specNames: ReadonlyMap<string, string>): void {
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
        if (++this.hosts > 1 || !hostCharacters.test(value)) this.isSound = false
        this.host = value
        break
      case 'content_length':
      case 'transfer_encoding':
        this.isSound = false
        break
      case 'connection':
        if (closeOption.test(value)) this.asksToClose = true
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
      case 'cookie':
        // HTTP/2 allows a proxy to divide the Cookie header into several lines. RFC 9113, 8.2.3.
        this.cookie = this.cookie === '' ? value : `${this.cookie}; ${value}`
        break
      case 'sec-fetch-site':
        this.fetchSite = value
        break
      case 'origin':
        this.origin = value
        break
      case 'traceparent':
        this.traceparent = value
        break
      case 'tracestate':
        // The header may come in several lines. W3C Trace Context, 3.3.1.
        this.tracestate = this.tracestate === '' ? value : `${this.tracestate},${value}`
        break
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === '' ? value : `${this.forwardedFor},${value}`
        break
      case 'x-forwarded-host':
        this.forwardedHost = value
        break
      case 'x-forwarded-proto':
        this.forwardedProto = value
        break
      case 'access-control-request-method':
        this.preflightMethod = value
        break
      default:
        if (name === 'user-agent') this.userAgent = value
        else if (proxyHeader.test(name)) this.#hasProxyHeader = true
    }
    const declared = specNames.get(name)
    if (declared === undefined) return
    if (this.declared[declared] === undefined) this.declared[declared] = value
    else this.repeated ??= declared
  }

  /** True if any header shows that a proxy has forwarded the request. */
  get isForwarded(): boolean {
    return this.#hasProxyHeader || this.forwardedFor !== '' || this.forwardedHost !== '' || this.forwardedProto !== ''
  }

  get hasBody(): boolean {
    return this.isChunked || (this.contentLength ?? 0) > 0
  }
}

/** The characters allowed in a Host header: RFC 9112, 3.2, and the host and port of RFC 3986, 3.2.2. */
const hostCharacters = /^[\w.~!$&'()*+,;=%:[\]-]*$/
/** The headers that a proxy adds: RFC 7239, RFC 9110 7.6.3, nginx, Apache, Cloudflare, Akamai, AWS and Fly. */
const proxyHeader =
  /^(?:via|forwarded|x-(?:forwarded(?:-.*)?|real-ip|client-ip|original-(?:forwarded-for|host|url)|cluster-client-ip|envoy-external-address|amzn-trace-id)|(?:cf|fastly|fly|true)-(?:connecting-ip|client-ip|visitor|ray|forwarded-.*)|cdn-loop)$/
const closeOption = /(^|[\s,])close([\s,]|$)/i

/** Reads the header lines. Must be called before the first await. `specNames` maps wire names to the spec's names. */
export function readHead(transport: Transport, specNames: ReadonlyMap<string, string>): Head {
  const head = new Head()
  transport.eachHeader((name, value) => {
    // `eachHeader` decodes UTF-8 and replaces invalid bytes. `header(name)` decodes latin1 (RFC 9110, 5.5), so each
    // character is one byte.
    head.take(name, specNames.has(name) ? transport.header(name) : value, specNames)
  })
  if (head.isChunked && head.contentLength !== null) head.isSound = false
  const { httpVersion } = transport
  if (httpVersion === '1.1' ? head.hosts === 0 : httpVersion !== '1.0') head.isSound = false
  return head
}

/**
 * Replaces `Service` in a contract's header name (`Service-…`, `X-Service-…`, `x-service-…`) with the deployer's
 * prefix. If the name has `service` in lower case, the prefix is written in lower case too.
 */
export function renameHeader(name: string, prefix: string): string {
  return name.replace(/^(x-)?(service)-/i, (_match, x: string | undefined, word: string) => {
    const spelled = word === word.toLowerCase() ? prefix.toLowerCase() : prefix
    return `${x ?? ''}${spelled}-`
  })
}
