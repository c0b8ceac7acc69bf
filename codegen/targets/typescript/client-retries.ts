/**
 * Decides if and when a failed request is sent again. The server must run no request twice, so a request is repeated
 * only if it never reached the server, or if the server answered that it may be repeated.
 */
import { ApiError } from './client-api-error.ts'

/** If a server asks for a longer pause, the request fails at once. */
const retryAfterMsMax = 60_000
const firstPauseMs = 500
const pauseMsMax = 8000

/** The errors of Node and its fetch before a connection exists. Browsers do not tell why a request failed. */
const connectErrors = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Returns the milliseconds to wait before the retry with this number, from 0. Returns null if there must be no retry. */
export function pauseBefore(retry: number, error: unknown): number | null {
  if (error instanceof ApiError) return error.retryable ? pauseAfter(retry, error.headers) : null
  return isConnectError(error) ? usualPauseMs(retry) : null
}

/** Waits, or throws the signal's reason. */
export function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

function pauseAfter(retry: number, headers: Headers): number | null {
  const asked = headers.get('retry-after')
  if (asked === null) return usualPauseMs(retry)
  const delayMs = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now()
  if (Number.isNaN(delayMs)) return usualPauseMs(retry)
  return delayMs <= retryAfterMsMax ? Math.max(0, delayMs) : null
}

/** Doubles with each retry. A random half keeps many clients from returning at the same moment. */
function usualPauseMs(retry: number): number {
  return Math.min(firstPauseMs * 2 ** retry, pauseMsMax) * (0.5 + Math.random() / 2)
}

function isConnectError(error: unknown): boolean {
  const cause: unknown = error instanceof TypeError ? error.cause : null
  return typeof cause === 'object' && cause !== null && 'code' in cause && connectErrors.has(String(cause.code))
}
