import type { Quantity } from '../billing/ledger.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { DispatchedRequest } from './dispatch.ts'

export type Ends = {
  /** Called after the last item. */
  done: () => void
  /** Returns the quantities to charge although `error` ended the delivery. */
  owed: (error: unknown) => Quantity[]
}

/**
 * Delivers a dispatched request's items to one reader. The request ends at the first of four events: the last item, a
 * failure (thrown as the fault), the reader's return, or the client's disconnection. The function is not a generator,
 * because an unstarted generator runs no `finally`.
 */
export function deliver<U>(
  request: DispatchedRequest<unknown>,
  items: AsyncIterable<U>,
  ends: Ends,
): AsyncIterableIterator<U> {
  const inner = items[Symbol.asyncIterator]()
  const fail = (error: unknown): unknown => request.fail(error, ends.owed(error))
  request.signal.onEnd(fail)
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
