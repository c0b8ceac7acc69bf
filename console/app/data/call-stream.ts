/** Follows the stream of all calls, and opens it again after each end. */
import type { StreamCallsCall } from '../../../generated/clients/typescript/platform.ts'
import type { CallFilters } from './calls.ts'
import { platform } from './clients.ts'
import { isSignedOut } from './failures.ts'
import type { CallListener } from './followed-list.ts'
import { pause } from './pause.ts'

type StreamFilters = NonNullable<StreamCallsCall['query']>

/** The wait after a stream, doubled after each failure. */
const retryMs = 1_000
const retryMaxMs = 30_000

export async function followCalls(filters: CallFilters, listener: CallListener, signal: AbortSignal): Promise<void> {
  let waitMs = retryMs
  while (!signal.aborted) {
    try {
      await readStream(filters, listener, signal)
      waitMs = retryMs
    } catch (error) {
      if (isSignedOut(error) || signal.aborted) return
      // If too many streams are open, the list is read again at intervals instead.
      listener.missed()
      waitMs = Math.min(waitMs * 2, retryMaxMs)
    }
    await pause(waitMs, signal)
  }
}

/** Resolves when the server ends the stream. */
async function readStream(filters: CallFilters, listener: CallListener, signal: AbortSignal): Promise<void> {
  // The stream supports neither searched words nor another order. With them, known rows change, but no new rows come.
  const query = Object.fromEntries(
    Object.entries(filters).filter(([name]) => name !== 'q' && name !== 'sort'),
  ) as StreamFilters
  const { body } = await platform.streamCalls({ signal, query })
  for await (const each of body) {
    // A stream has no position, so changes before each opening are missed too.
    if (each.event === 'open' || each.event === 'resync') listener.missed()
    if (each.event === 'call') listener.changed(each.data)
    if (each.event === 'gone') listener.gone(each.data.id)
  }
}
