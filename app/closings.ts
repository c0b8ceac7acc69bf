/** Closes the parts of a context, the newest part first. A part that fails to close keeps no other part open. */
export type Closings = { closing: (close: () => unknown) => void; close: () => Promise<void> }

export function createClosings(): Closings {
  const closings: (() => unknown)[] = []
  return {
    closing: (close) => void closings.unshift(close),
    /** Rejects after the last one: with the error of the part that did not close, or with all of them. */
    async close() {
      const errors: unknown[] = []
      for (const close of closings.splice(0)) {
        try {
          await close()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length === 1) throw errors[0]
      if (errors.length > 1) throw new AggregateError(errors, 'several parts did not close')
    },
  }
}
