/** Work on whole tables, and processes that wait for another one that does it. */

/** The longest that one statement over a whole table may take, or that a process may wait for another one. */
export const longWorkMsMax = 4 * 3_600_000
/** On the machine's time: another process does the work. */
const askAgainMs = 200

/** Asks until it is so, and calls `waiting` once where it is not so at first. False: not within `longWorkMsMax`. */
export async function asksUntil(isSo: () => Promise<boolean>, waiting: () => void): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < longWorkMsMax; waitedMs += askAgainMs) {
    if (await isSo()) return true
    if (waitedMs === 0) waiting()
    await new Promise((resolve) => setTimeout(resolve, askAgainMs))
  }
  return false
}
