/** Reads a list of calls again, and puts the answer in place of the loaded rows. */
import type { CallList, CallOverview } from '../../../generated/clients/typescript/models/platform.ts'
import { type CallPages, callsOf, isBehind, onlyFirstPage, reachesLastRow, withFreshPages } from './call-pages.ts'

export type List = {
  /** The loaded pages. Undefined before the first answer. */
  pages: () => CallPages | undefined
  put: (pages: CallPages) => void
  /** Forgets all pages, and loads the first page. */
  reset: () => void
  read: (cursor: string | null) => Promise<CallList>
  /** Whether the page loads calls. The answer replaces all changes meanwhile. */
  isLoading: () => boolean
  whenLoaded: () => Promise<void>
  /** Whether the rows must stay where they are. */
  isHeld: () => boolean
  /** Resolves when the rows may move again. */
  whenReleased: () => Promise<void>
  /** Whether the newest calls are first. Only then can a new call be inserted. */
  isByTime: boolean
  changeWaiting: (change: (calls: readonly CallOverview[]) => readonly CallOverview[]) => void
  /** Counts a changed row. */
  count: (id: string) => void
  pause: (ms: number) => Promise<void>
}

/** If more calls wait, the list is loaded anew when a person wants to see them. */
export const waitingMax = 200
/** If more new pages come before the loaded rows, the list is loaded anew. */
const newPagesMax = 5

/** Reads the first page. If the rows must stay, reads on until the last loaded row is reached. */
export async function readFreshPages(list: List, signal: AbortSignal): Promise<CallList[]> {
  const fresh: CallList[] = []
  for (let cursor: string | null = null; ; ) {
    const page: CallList = await list.read(cursor)
    fresh.push(page)
    cursor = page.next_cursor
    const known = list.pages()
    if (signal.aborted || cursor === null || !known || !list.isHeld()) return fresh
    if (isComplete(list, known, fresh) || fresh.length > known.pages.length + newPagesMax) return fresh
  }
}

function isComplete({ isByTime }: List, known: CallPages, fresh: readonly CallList[]): boolean {
  if (fresh.at(-1)?.next_cursor === null) return true
  return isByTime ? reachesLastRow(known, fresh) : fresh.length >= known.pages.length
}

export function putFreshPages(list: List, fresh: readonly CallList[]): void {
  const known = list.pages()
  const [first] = fresh
  if (!first) return
  if (known && list.isHeld() && !isComplete(list, known, fresh)) return list.reset()
  const isKept = known !== undefined && list.isHeld()
  const next = isKept ? withFreshPages(known, fresh, missingRows(list, fresh)) : onlyFirstPage(known, first)
  list.put(next)
  countChanges(list, known, next)
  list.changeWaiting(() => (isKept && list.isByTime ? newCalls(known, fresh) : []))
}

/** In an order that is not by time, a missing row may have moved to a page that was not read. */
const missingRows = ({ isByTime }: List, fresh: readonly CallList[]) =>
  isByTime || fresh.at(-1)?.next_cursor === null ? 'remove' : 'keep'

function countChanges(list: List, known: CallPages | undefined, next: CallPages): void {
  if (!known) return
  const before = new Map(callsOf(known).map((call) => [call.id, call]))
  for (const call of callsOf(next)) {
    const shown = before.get(call.id)
    if (shown && shown !== call) list.count(call.id)
  }
}

function newCalls(known: CallPages, fresh: readonly CallList[]): CallOverview[] {
  const ids = new Set(callsOf(known).map(({ id }) => id))
  const calls = callsOf({ pages: [...fresh] })
  return calls.filter((call) => !ids.has(call.id) && !isBehind(known, call)).slice(0, waitingMax)
}
