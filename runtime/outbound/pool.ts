/**
 * Connections to one origin, through undici's `dispatch`: the global fetch costs 13 times the CPU for a request.
 * Connections use HTTP/1.1 without pipelining. No redirect is followed and no content coding is requested, so the bytes
 * arrive as the server made them. Requests beyond `connectionsMax` wait, at most `queuedMax` at a time
 * (connections.ts).
 */
import type { Pool } from 'undici'
import type { CancelSignal } from '../engine/cancel-signal.ts'
import { loadUndici } from '../optional.ts'
import type { WatchClock } from '../timing/watch.ts'
import { type AddressPolicy, guardedConnector } from './address-guard.ts'
import type { CollectedAnswer, StreamedAnswer } from './answer.ts'
import { type ConnectionLimits, Connections } from './connections.ts'
import { OutboundError } from './outbound-error.ts'
import { CollectedRequest, type RequestLimits, StreamedRequest } from './pending-request.ts'

export type PoolOptions = ConnectionLimits & {
  /** `scheme://host[:port]` */
  origin: string
  connectMs: number
  /** Absent for URLs from the operator's configuration, whose hosts may be private. Set for every URL from a user. */
  guard?: AddressPolicy
  clock: WatchClock
}

/**
 * A connection waits this long for its next request. Load balancers and servers close idle connections after 60 s
 * (AWS), 75 s (nginx) or more. This side closes first, so no request meets a closing connection. undici's default, 4 s,
 * would cost nearly every request a handshake. If a server names a time (Keep-Alive: timeout=…), its connection is
 * closed 2 s before this time.
 *
 * If a server names no time and closes sooner (uvicorn: after 5 s), undici notices, because it checks a connection
 * before each use. If the check finds a reset, the request fails with `sent` false. A close still on its way cannot be
 * seen: the request then fails with `sent` true, and it is not sent a second time.
 */
const keepAliveMs = 55_000

export type OutboundRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The request's path and query. */
  path: string
  /**
   * Alternating names and values, written unchanged, so the calling code can create them once. Host and Content-Length
   * are added.
   */
  headers: readonly string[]
  /** A list of chunks is written in order without being joined. */
  body?: string | Uint8Array | readonly Uint8Array[]
  signal?: CancelSignal
  /** The organization that the request's connection counts for. */
  owner?: string | undefined
  headersTimeoutMs: number
  /** The longest time between two chunks of the response. */
  bodyTimeoutMs: number
  /** The longest time for the whole response, exceeded by at most one `bodyTimeoutMs`. */
  totalMs: number
  answerBytesMax: number
}

/**
 * `request` and `stream` reject with OutboundError. Its `sent` reports whether a byte was written. A response with any
 * status resolves the promise.
 */
export interface OutboundPool {
  request(request: OutboundRequest): Promise<CollectedAnswer>
  /** Resolves with the status line. The body applies backpressure to the server and rejects with OutboundError. */
  stream(request: OutboundRequest): Promise<StreamedAnswer>
  /** Ends all running requests. */
  close(): Promise<void>
}

export function createPool(options: PoolOptions): OutboundPool {
  const { buildConnector, Pool } = loadUndici()
  const pool = new Pool(options.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    connect: options.guard
      ? guardedConnector(options.guard, options.connectMs)
      : buildConnector({ timeout: options.connectMs }),
  })
  const { clock } = options
  const monotonicMs = () => clock.monotonicMs()
  const connections = new Connections<OutboundRequest>(options, clock, (request, pending) => {
    // `pending` implements undici's handler interface.
    pool.dispatch(dispatchOptions(request), pending)
  })

  function limits(request: OutboundRequest): RequestLimits {
    const { answerBytesMax, headersTimeoutMs, bodyTimeoutMs, totalMs } = request
    return { answerBytesMax, headersTimeoutMs, bodyTimeoutMs, deadlineMs: monotonicMs() + totalMs, monotonicMs }
  }

  return {
    request: (request) =>
      new Promise((resolve, reject) => {
        if (request.signal?.aborted) return reject(cancelled(request.signal))
        const pending = new CollectedRequest(limits(request), request.signal, connections, resolve, reject)
        connections.begin(request, pending)
      }),
    stream: (request) =>
      new Promise((resolve, reject) => {
        if (request.signal?.aborted) return reject(cancelled(request.signal))
        const pending = new StreamedRequest(limits(request), request.signal, connections, resolve, reject)
        connections.begin(request, pending)
      }),
    close: () => {
      connections.close()
      return pool.destroy()
    },
  }
}

const cancelled = (signal: CancelSignal) => new OutboundError('cancelled', false, signal.reason)

/**
 * Converts a request for undici. The fields are written out: this runs for every attempt and is measured, and a spread
 * would be its slowest line.
 */
function dispatchOptions(request: OutboundRequest): Parameters<Pool['dispatch']>[0] {
  const { body, method, path } = request
  const chunks = typeof body === 'object' && !(body instanceof Uint8Array) ? body : null
  return {
    method,
    path,
    headers: chunks ? withLength(request.headers, chunks) : (request.headers as string[]),
    // undici takes any iterable with bytes; its type names only the usual kinds.
    body: (body ?? null) as Uint8Array | string | null,
    // The watch for pending requests replaces undici's timers.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
}

/** Adds the body's length. Without it, undici would send a chunked body, which many servers refuse for multipart. */
function withLength(headers: readonly string[], chunks: readonly Uint8Array[]): string[] {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  return [...headers, 'content-length', String(bytes)]
}
