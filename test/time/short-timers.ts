/**
 * Counts the timers of the machine that fire within a moment. Code that gathers rows for 2 ms, or begins something in the next
 * turn of the event loop, is at work until then.
 */
const momentMs = 25

export type ShortTimers = { readonly pending: number }

export function watchShortTimers(): ShortTimers {
  const pending = new Set<unknown>()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const watched = (run: (...given: unknown[]) => void, delayMs = 0, ...given: unknown[]) => {
    if (delayMs > momentMs) return set(run, delayMs, ...given)
    const timer = set(() => {
      pending.delete(timer)
      run(...given)
    }, delayMs)
    pending.add(timer)
    return timer
  }
  // util.promisify, and types of tests, expect the properties of the original.
  globalThis.setTimeout = Object.assign(watched, set)
  globalThis.clearTimeout = (timer) => {
    pending.delete(timer)
    clear(timer)
  }
  return {
    get pending() {
      return pending.size
    },
  }
}
