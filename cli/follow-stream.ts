/** Reads a server's stream until it is over, and opens it again after a time-out, a cut or a restart. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PlatformApiError } from '../generated/clients/platform.ts'
import { KeyRefused } from './command-error.ts'

const retryMs = { first: 500, max: 8000 }

/**
 * `open` continues from the position that `take` has reached. `take` answers true for the last event. A failure before
 * the first event is about the address, the key or the id, and is thrown. `triesMax` tries in a row may fail.
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
      // Wait first, because a server may end every stream at once.
      await sleep(retryMs.first)
    } catch (error) {
      failed += 1
      if (isNew || failed >= triesMax || !mayPass(error)) throw error
      await sleep(Math.min(retryMs.first * 2 ** (failed - 1), retryMs.max))
    }
  }
}

/** A refusal is permanent. A limit, a restart and a cut connection pass. */
export function mayPass(error: unknown): boolean {
  if (error instanceof KeyRefused) return false
  return !(error instanceof PlatformApiError) || error.status === 429 || error.status >= 500
}
