/**
 * Decides if and when a failed request is sent again. The server must not run a request twice, so a request is repeated
 * only if it never reached the server, or if the server answered that it may be repeated.
 */
import { ApiError, ConnectionError } from './client-api-error.ts'

/** If a server asks for a longer pause, the request fails at once. */
const retryAfterMsMax = 60_000
const firstPauseMs = 500
const pauseMsMax = 8000

/** The server has not processed a request with these answers. */
const unprocessed: readonly number[] = [429, 502, 503]
/**
 * The server may have processed a request with these answers, so the request is repeated only if its method permits
 * this.
 */
const uncertain: readonly number[] = [500, 504]
const repeatableMethods: readonly string[] = ['GET', 'HEAD', 'PUT', 'DELETE']

/**
 * Returns the milliseconds to wait before the retry with this number, from 0. Returns null if there must be no retry.
 */
export function pauseBefore(retry: number, error: unknown, method: string): number | null {
  if (error instanceof ApiError) return isRepeatable(error, method) ? pauseAfter(retry, error.headers) : null
  return error instanceof ConnectionError && !error.wasSent ? usualPauseMs(retry) : null
}

function isRepeatable({ retryable, status, headers }: ApiError, method: string): boolean {
  // The server sends this header if a provider has the request already.
  const mayHaveRun = uncertain.includes(status) || headers.get('x-should-retry') === 'false'
  const isKnown = unprocessed.includes(status) || uncertain.includes(status)
  return retryable && isKnown && (!mayHaveRun || repeatableMethods.includes(method))
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
