/** Limits for work on whole tables, and a way to wait for another process that does it. */

/** The limit for one statement over a whole table, and for waiting for another process. */
export const longWorkMsMax = 4 * 3_600_000
/** The pause between two checks. The pause uses the machine's clock, because another process does the work. */
const askAgainMs = 200

/**
 * Polls until `isSo` returns true. If the first result is false, calls `waiting` once. Returns false after
 * `longWorkMsMax`.
 */
export async function asksUntil(isSo: () => Promise<boolean>, waiting: () => void): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < longWorkMsMax; waitedMs += askAgainMs) {
    if (await isSo()) return true
    if (waitedMs === 0) waiting()
    await new Promise((resolve) => setTimeout(resolve, askAgainMs))
  }
  return false
}
