/**
 * Keeps the loaded rows of a list equal to the server's rows while the stream is open. Changed rows change in place. If
 * changes may have been missed, the list is read again. The list then begins anew with its first page. But if a person
 * looks through the rows, the rows stay at their places, and new calls wait.
 */
import type { CallList, CallOverview } from '../../../generated/clients/typescript/models/platform.ts'
import { findCall, isBehind, isSameCall, withChangedCall, withoutCall } from './call-pages.ts'
import { isSignedOut } from './failures.ts'
import { type List, putFreshPages, readFreshPages, waitingMax } from './fresh-pages.ts'

export type CallListener = {
  changed: (call: CallOverview) => void
  gone: (id: string) => void
  /** Changes may have been missed, so the list must be read again. */
  missed: () => void
}

/** If the first page has grown to this many rows, the list begins anew. */
export const grownMax = 400
/** A busy organization's stream may ask for a new read every second. */
export const rereadMs = 5_000
const rereadMaxMs = 60_000
/** If more than this many calls change during a read, the list is read again. */
const lateMax = 500

export function followList(list: List, signal: AbortSignal): CallListener {
  /** Changes during a read, by call. The answer may be older, so the changes are applied after it. */
  const late = new Map<string, () => void>()
  let isReading = false
  let isStale = false
  let isCatchingUp = false

  function apply(id: string, change: () => void): void {
    if (!isReading && !list.isLoading()) return change()
    late.set(id, change)
    if (late.size > lateMax) {
      late.clear()
      missed()
    } else if (late.size === 1) void applyLate()
  }

  async function applyLate(): Promise<void> {
    while (!isReading && list.isLoading()) await list.whenLoaded()
    if (isReading || signal.aborted) return
    const changes = [...late.values()]
    late.clear()
    for (const change of changes) change()
  }

  function missed(): void {
    isStale = true
    if (isCatchingUp) return
    isCatchingUp = true
    void catchUp().finally(() => (isCatchingUp = false))
  }

  const readAfterRelease = afterRelease(list, missed)

  async function catchUp(): Promise<void> {
    let waitMs = rereadMs
    while (isStale && !signal.aborted) {
      isStale = false
      try {
        await readAgain()
        waitMs = rereadMs
      } catch (error) {
        if (isSignedOut(error)) return
        isStale = true
        waitMs = Math.min(waitMs * 2, rereadMaxMs)
      }
      await list.pause(waitMs)
    }
  }

  async function readAgain(): Promise<void> {
    isReading = true
    try {
      let fresh: CallList[]
      do {
        await list.whenLoaded()
        fresh = await readFreshPages(list, signal)
      } while (list.isLoading() && !signal.aborted)
      if (signal.aborted) return
      putFreshPages(list, fresh)
      // In another order no new row comes between held rows.
      if (!list.isByTime && list.isHeld()) readAfterRelease()
    } finally {
      isReading = false
      void applyLate()
    }
  }

  const changed = (call: CallOverview) =>
    apply(call.id, () => {
      changeCall(list, call)
      if (isGrown(list)) missed()
    })
  const gone = (id: string) => apply(id, () => removeCall(list, id))
  return { changed, gone, missed }
}

/** Returns a function that runs `run` when the rows may move again. Calls of the function until then run it once. */
function afterRelease({ whenReleased }: List, run: () => void): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    void whenReleased().then(() => {
      isWaiting = false
      run()
    })
  }
}

function changeCall(list: List, call: CallOverview): void {
  const pages = list.pages()
  if (!pages) return
  const shown = findCall(pages, call.id)
  if (shown && isSameCall(shown, call)) return
  if (shown) {
    list.put(withChangedCall(pages, call))
    list.count(call.id)
  } else if (list.isByTime && !isBehind(pages, call))
    list.changeWaiting((calls) => [call, ...calls.filter(({ id }) => id !== call.id)].slice(0, waitingMax))
}

function removeCall(list: List, id: string): void {
  const pages = list.pages()
  if (pages && findCall(pages, id)) list.put(withoutCall(pages, id))
  // An unchanged array draws nothing again. Most calls that are gone were never in the list.
  list.changeWaiting((calls) => (calls.some((call) => call.id === id) ? calls.filter((call) => call.id !== id) : calls))
}

/** A page on a wall would otherwise collect the calls of days. */
const isGrown = (list: List) => !list.isHeld() && (list.pages()?.pages[0]?.calls.length ?? 0) > grownMax
