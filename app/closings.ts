/** Closes a context's parts, the newest first. If a part fails to close, the other parts still close. */
export type Closings = { closing: (close: () => unknown) => void; close: () => Promise<void> }

export function createClosings(): Closings {
  const closings: (() => unknown)[] = []
  return {
    closing: (close) => void closings.unshift(close),
    /** Closes all parts. Rejects after the last part, with the error from the failed part, or with all errors. */
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
