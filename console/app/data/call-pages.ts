/** Changes to the cached pages of a list of calls. */
import { type InfiniteData, replaceEqualDeep } from '@tanstack/react-query'
import type { CallList, CallOverview } from '../../../generated/clients/typescript/models/platform.ts'

export type CallPages = InfiniteData<CallList, string | null>

export const callsOf = ({ pages }: Pick<CallPages, 'pages'>): CallOverview[] => pages.flatMap(({ calls }) => calls)

export const findCall = ({ pages }: CallPages, id: string): CallOverview | undefined => {
  for (const { calls } of pages) {
    const found = calls.find((call) => call.id === id)
    if (found) return found
  }
  return undefined
}

export const withoutCall = (pages: CallPages, id: string): CallPages =>
  changed(pages, ({ calls }) => calls.filter((call) => call.id !== id))

/** The stream does not send the words that matched a search, so the row keeps its earlier matches. */
export const withChangedCall = (pages: CallPages, call: CallOverview): CallPages =>
  changed(pages, ({ calls }) =>
    calls.map((each) => (each.id === call.id ? { ...call, ...(each.matches && { matches: each.matches }) } : each)),
  )

/**
 * Inserts a call at its place by time. A call older than the last loaded page is not inserted: it comes with its page.
 */
export function withNewCall(pages: CallPages, call: CallOverview): CallPages {
  if (findCall(pages, call.id)) return withChangedCall(pages, call)
  if (isBehind(pages, call)) return pages
  const isOlder = (other: CallOverview) => other.created_at <= call.created_at
  const found = pages.pages.findIndex(({ calls }) => calls.some(isOlder))
  const target = found < 0 ? pages.pages.length - 1 : found
  return changed(pages, ({ calls }, at) => {
    if (at !== target) return calls
    const place = calls.findIndex(isOlder)
    return place < 0 ? [...calls, call] : calls.toSpliced(place, 0, call)
  })
}

/** Returns true if the call is older than all loaded rows, and more pages follow. */
export function isBehind({ pages }: CallPages, call: CallOverview): boolean {
  const oldest = lastOf(pages)
  return oldest !== undefined && pages.at(-1)?.next_cursor !== null && call.created_at < oldest.created_at
}

/** Returns the list's first page alone, as the server has just sent it. Equal rows stay the same objects. */
export const onlyFirstPage = (known: CallPages | undefined, fresh: CallList): CallPages => ({
  pages: [{ ...fresh, calls: shared(known, fresh.calls) }],
  pageParams: [null],
})

/** Puts the content from the fresh pages into the loaded rows. A row without fresh content stays or goes. */
export function withFreshPages(known: CallPages, fresh: readonly CallList[], missing: 'keep' | 'remove'): CallPages {
  const byId = new Map(shared(known, callsOf({ pages: [...fresh] })).map((call) => [call.id, call]))
  return changed(known, ({ calls }) => calls.flatMap((call) => byId.get(call.id) ?? (missing === 'keep' ? [call] : [])))
}

/** Returns true if the fresh pages, the newest calls first, have all calls down to the last loaded row. */
export function reachesLastRow({ pages }: CallPages, fresh: readonly CallList[]): boolean {
  const [wanted, read] = [lastOf(pages), lastOf(fresh)]
  if (wanted === undefined || read === undefined) return wanted === undefined
  return read.created_at < wanted.created_at || fresh.some(({ calls }) => calls.some(({ id }) => id === wanted.id))
}

export const isSameCall = (one: CallOverview, other: CallOverview) =>
  JSON.stringify({ ...one, matches: undefined }) === JSON.stringify({ ...other, matches: undefined })

const lastOf = (pages: readonly CallList[]) => pages.findLast(({ calls }) => calls.length > 0)?.calls.at(-1)

/** React draws a row again only if its call is another object. */
function shared(known: CallPages | undefined, calls: readonly CallOverview[]): CallOverview[] {
  const byId = new Map(known && callsOf(known).map((call) => [call.id, call]))
  return calls.map((call) => replaceEqualDeep(byId.get(call.id), call))
}

const changed = (
  { pages, ...rest }: CallPages,
  change: (page: CallList, at: number) => readonly CallOverview[],
): CallPages => ({ ...rest, pages: pages.map((page, at) => ({ ...page, calls: [...change(page, at)] })) })
