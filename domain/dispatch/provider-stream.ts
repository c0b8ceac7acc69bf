import type { AttemptSignal } from './attempt-signal.ts'

/**
 * Ties a provider's stream to its attempt's signal: when the signal ends, `return` is called on the stream. So an
 * adapter's `finally` runs even if reading stops between two items.
 */
export function begin<T>(signal: AttemptSignal, stream: AsyncIterable<T>): AsyncIterator<T> {
  const items = stream[Symbol.asyncIterator]()
  if (signal.aborted) void leave(items)
  else signal.addEventListener('abort', () => void leave(items))
  return items
}

/**
 * Yields the stream from its first item on, under the attempt's deadlines. While the reader waits for an item, the
 * provider may be silent for `idleMs`. The reader's processing time does not count.
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

/**
 * Ends the stream by calling its `return`. Calling code must not await this, because a hanging adapter would block the
 * reader. Errors are ignored, because no reader is left.
 */
export async function leave(rest: AsyncIterator<unknown>): Promise<void> {
  try {
    await rest.return?.()
  } catch {
    return
  }
}
