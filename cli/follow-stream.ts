/**
 * Reads a server's event stream until it is over, and opens it again after a time-out, a lost connection or a restart.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { PlatformApiError } from '../generated/clients/typescript/platform.ts'
import { KeyRefused } from './command-error.ts'

const retryMs = { first: 500, max: 8000 }

/**
 * Calls `take` for each event until it returns true. `open` opens the stream at the position reached by `take`. A
 * failure before the first event is thrown, because its cause is the URL, the API key or the id. `triesMax` tries in a
 * row may fail.
 */
export async function followStream<Event>(
  open: () => Promise<AsyncIterable<Event>>,
  take: (event: Event) => boolean | Promise<boolean>,
  triesMax: number,
): Promise<void> {
  let isNew = true
  let failed = 0
  for (;;) {
    try {
      for await (const event of await open()) {
        if (await take(event)) return
        isNew = false
        failed = 0
      }
      // The server has ended the stream. Wait before opening it again, because a server may end every stream at once.
      await sleep(retryMs.first)
    } catch (error) {
      failed += 1
      if (isNew || failed >= triesMax || !mayPass(error)) throw error
      await sleep(Math.min(retryMs.first * 2 ** (failed - 1), retryMs.max))
    }
  }
}

/**
 * True if another try may succeed. A refusal is permanent. A rate limit, a restart and a cut connection are temporary.
 */
export function mayPass(error: unknown): boolean {
  if (error instanceof KeyRefused) return false
  return !(error instanceof PlatformApiError) || error.status === 429 || error.status >= 500
}
