/**
 * Counts this process's timers that fire within `momentMs`. If code gathers rows for 2 ms, or starts work in the event
 * loop's next turn, it is at work until then.
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
  // util.promisify, and test types, expect the original's properties.
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
