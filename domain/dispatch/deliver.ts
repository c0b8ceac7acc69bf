import type { Quantity } from '../billing/ledger.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { DispatchedRequest } from './dispatch.ts'

export type Ends = {
  /** All items were delivered. */
  done: () => void
  /** The quantities that are owed although `error` ended it. */
  owed: (error: unknown) => Quantity[]
}

/**
 * The items of an exchange for one reader, tied to its end: whichever comes first of the last item, a failure (thrown as the fault), the
 * reader's return and the client's leaving finishes it. A generator would not do: one that nobody started runs no `finally`.
 */
export function deliver<U>(
  exchange: DispatchedRequest<unknown>,
  items: AsyncIterable<U>,
  ends: Ends,
): AsyncIterableIterator<U> {
  const inner = items[Symbol.asyncIterator]()
  const fail = (error: unknown): unknown => exchange.fail(error, ends.owed(error))
  exchange.signal.onEnd(fail)
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      try {
        const next = await inner.next()
        if (next.done) ends.done()
        return next
      } catch (error) {
        throw fail(error)
      }
    },
    async return() {
      fail(new ProviderError('cancelled', { sent: true }))
      await inner.return?.()
      return { done: true, value: undefined }
    },
  }
}
