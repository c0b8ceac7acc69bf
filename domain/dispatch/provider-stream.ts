import type { AttemptSignal } from './attempt-signal.ts'

/**
 * A provider's stream, tied to the signal of its attempt: when the signal ends, the stream is returned, so that an adapter's `finally` runs
 * although it was left between two items.
 */
export function begin<T>(signal: AttemptSignal, stream: AsyncIterable<T>): AsyncIterator<T> {
  const items = stream[Symbol.asyncIterator]()
  if (signal.aborted) void leave(items)
  else signal.addEventListener('abort', () => void leave(items))
  return items
}

/**
 * The stream from its first item on, under the deadlines of its attempt. The provider may be silent for `idleMs` while it is asked; the time
 * that the reader takes does not count.
 */
export async function* follow<T>(
  signal: AttemptSignal,
  first: T,
  rest: AsyncIterator<T>,
  idleMs: number,
): AsyncGenerator<T, void> {
  try {
    yield first
    for (;;) {
      signal.expect(idleMs)
      const next = await signal.guard(rest.next())
      signal.rest()
      if (next.done) return
      yield next.value
    }
  } finally {
    void leave(rest)
  }
}

/** Calling code does not await it, because an adapter that hangs would hang its reader. An error at this point has no reader any more. */
export async function leave(rest: AsyncIterator<unknown>): Promise<void> {
  try {
    await rest.return?.()
  } catch {
    return
  }
}
