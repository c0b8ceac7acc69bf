/**
 * Sends webhook and tool requests to organizations' servers. The address guard refuses forbidden IP addresses.
 * Connections to recently used servers stay open to save time, because a caller on the phone waits for a tool's
 * response.
 */
import type { Clock } from '../../domain/ports/system.ts'
import {
  type WebhookAnswer,
  type WebhookClient,
  WebhookError,
  type WebhookFailure,
  type WebhookRequest,
} from '../../domain/webhooks/client.ts'
import type { AddressPolicy } from '../../runtime/outbound/address-guard.ts'
import { OutboundError, type OutboundFailure } from '../../runtime/outbound/outbound-error.ts'
import { createPool, type OutboundPool } from '../../runtime/outbound/pool.ts'
import { retryAfterS } from './retry-after.ts'
import { type Body, unpack } from './unpack.ts'

export type WebhookClientOptions = {
  guard: AddressPolicy
  clock: Clock
  /**
   * The maximum number of connections to one origin (scheme, host and port), so that one organization does not use all
   * connections in the process.
   */
  connectionsMax?: number
  /** The maximum number of origins with open connections. */
  addressesMax?: number
}

const queuedMax = 64
const connectMs = 5000
/** The longest time without data from the other server. A request's signal usually ends the request earlier. */
const silentMsMax = 60_000
/**
 * The pool's size limit for a response. It is above every `answerBytesMax`, so that `read` truncates a long response
 * before the pool fails the request.
 */
const discardedBytesMax = 16 * 1024 * 1024

/** A request with a body is sent as POST, a request without a body as GET. */
type Sent = Omit<WebhookRequest, 'body'> & Partial<Pick<WebhookRequest, 'body'>>

type Origin = { pool: OutboundPool; underWay: number }

export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { connectionsMax = 16, addressesMax = 64 } = options
  /** The open connections by lane (a name for a separate pool) and origin. The last used origin is at the end. */
  const origins = new Map<string, Origin>()

  function take(origin: string, lane = ''): Origin {
    const key = `${lane} ${origin}`
    const existing = origins.get(key)
    const entry = existing ?? { pool: openPool(origin), underWay: 0 }
    origins.delete(key)
    origins.set(key, entry)
    entry.underWay++
    if (!existing) closeOldest()
    return entry
  }

  function openPool(origin: string): OutboundPool {
    const guard = { ...options.guard, onlyAllowed: origin.startsWith('http:') }
    return createPool({ origin, connectionsMax, queuedMax, connectMs, clock: options.clock, guard })
  }

  function closeOldest(): void {
    if (origins.size <= addressesMax) return
    for (const [origin, { pool, underWay }] of origins) {
      if (underWay > 0) continue
      origins.delete(origin)
      void pool.close()
      return
    }
  }

  async function send(method: 'GET' | 'POST', request: Sent): Promise<WebhookAnswer> {
    const url = new URL(request.url)
    const origin = take(url.origin, request.lane)
    try {
      return await sendOver(origin.pool, options.clock, method, url, request)
    } catch (error) {
      throw toWebhookError(error)
    } finally {
      origin.underWay--
      closeOldest()
    }
  }

  return {
    post: (request) => send('POST', request),
    get: (request) => send('GET', request),
    close: async () => {
      await Promise.all([...origins.values()].map(({ pool }) => pool.close()))
      origins.clear()
    },
  }
}

async function sendOver(
  pool: OutboundPool,
  clock: Clock,
  method: 'GET' | 'POST',
  url: URL,
  request: Sent,
): Promise<WebhookAnswer> {
  const bytesMax = request.answerBytesMax
  const { status, headers, body } = await pool.stream({
    method,
    path: `${url.pathname}${url.search}`,
    headers: Object.entries(request.headers).flat(),
    ...(request.body !== undefined && { body: request.body }),
    signal: request.signal,
    owner: request.owner ?? request.lane,
    headersTimeoutMs: silentMsMax,
    bodyTimeoutMs: silentMsMax,
    totalMs: silentMsMax,
    answerBytesMax: discardedBytesMax,
  })
  const waitS = retryAfterS(headers, clock.nowMs())
  return {
    status,
    ...unpack(await read(body, bytesMax), headers.get('content-encoding'), bytesMax),
    ...(waitS !== undefined && waitS >= 0 && { retryAfterS: waitS }),
  }
}

/**
 * Reads at most `bytesMax` bytes. Stopping the iteration closes the connection, so the rest of a long response is not
 * received.
 */
async function read(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Body> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) return { body: Buffer.concat(chunks).subarray(0, bytesMax), isCut: true }
  }
  return { body: Buffer.concat(chunks), isCut: false }
}

const failures: Partial<Record<OutboundFailure, WebhookFailure>> = {
  address_refused: 'blocked',
  queue_full: 'busy',
  cancelled: 'cancelled',
  connect_timeout: 'not_connected',
  first_byte_timeout: 'timed_out',
  idle_timeout: 'timed_out',
  total_timeout: 'timed_out',
}

function toWebhookError(error: unknown): WebhookError {
  if (!(error instanceof OutboundError)) return new WebhookError('not_sendable', error)
  if (error.failure === 'protocol' && !error.sent) return new WebhookError('not_sendable', error)
  if (error.failure === 'unreachable') return new WebhookError(unreachableFor(error.cause), error)
  return new WebhookError(failures[error.failure] ?? 'broken_off', error)
}

/**
 * Node's error codes for a failed name lookup, and for a failed handshake. OpenSSL has a different code for each fault,
 * so the codes are matched by their prefixes.
 */
const ofDns = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/
const ofTls = /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|INVALID_|EPROTO)/

function unreachableFor(cause: unknown): WebhookFailure {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? ''
  if (ofDns.test(code)) return 'dns'
  return ofTls.test(code) ? 'tls' : 'not_connected'
}
