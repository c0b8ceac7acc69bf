import type { Call } from './call.ts'

/**
 * A provider's stream from its first item on, under the call's deadlines: the provider may be silent for `idleMs` while it is asked, and
 * a reader that takes its time is not held against it. However the reading ends, the stream is returned, so that an adapter's `finally` runs.
 */
export function follow<T>(call: Call, first: T, rest: AsyncIterator<T>, idleMs: number): AsyncIterable<T> {
  // A generator that nobody started runs no `finally` of its own.
  call.signal.addEventListener('abort', () => void leave(rest), { once: true })
  return items(call, first, rest, idleMs)
}

async function* items<T>(call: Call, first: T, rest: AsyncIterator<T>, idleMs: number): AsyncGenerator<T, void> {
  try {
    yield first
    for (;;) {
      call.expect(idleMs)
      const next = await call.guard(rest.next())
      call.rest()
      if (next.done) return
      yield next.value
    }
  } finally {
    void leave(rest)
  }
}

/** Not awaited: an adapter that hangs would hang its reader. What it throws now has no reader any more. */
async function leave(rest: AsyncIterator<unknown>): Promise<void> {
  try {
    await rest.return?.()
  } catch {
    return
  }
}
