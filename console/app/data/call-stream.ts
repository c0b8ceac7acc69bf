/** Follows the stream of all calls, and opens it again after each end. */
import type { CallOverview } from '../../../generated/clients/typescript/models/platform.ts'
import type { StreamCallsCall } from '../../../generated/clients/typescript/platform.ts'
import type { CallFilters } from './calls.ts'
import { platform } from './clients.ts'
import { isSignedOut } from './failures.ts'

type StreamFilters = NonNullable<StreamCallsCall['query']>

export type CallListener = { changed: (call: CallOverview) => void; gone: (id: string) => void }

/** How many of the newest calls are read again after each opening. Older calls change rarely. */
const newestMax = 50
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
      await readNewest(filters, listener, signal).catch(() => undefined)
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
    if (each.event === 'open' || each.event === 'resync') await readNewest(filters, listener, signal)
    if (each.event === 'call') listener.changed(each.data)
    if (each.event === 'gone') listener.gone(each.data.id)
  }
}

async function readNewest(filters: CallFilters, { changed }: CallListener, signal: AbortSignal): Promise<void> {
  const { body } = await platform.listCalls({ signal, query: { ...filters, limit: newestMax } })
  for (const call of body.calls.toReversed()) changed(call)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end, { once: true })
  })
}
