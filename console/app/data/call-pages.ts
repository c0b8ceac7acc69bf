/** Changes to the cached pages of a list of calls. */
import type { InfiniteData } from '@tanstack/react-query'
import type { CallList, CallOverview } from '../../../generated/clients/typescript/models/platform.ts'

export type CallPages = InfiniteData<CallList, string | null>

export const findCall = ({ pages }: CallPages, id: string): CallOverview | undefined =>
  pages.flatMap(({ calls }) => calls).find((call) => call.id === id)

export const withoutCall = (pages: CallPages, id: string): CallPages =>
  changed(pages, ({ calls }) => calls.filter((call) => call.id !== id))

/** A stream has no words that a search found, so the row keeps its words. */
export const withChangedCall = (pages: CallPages, call: CallOverview): CallPages =>
  changed(pages, ({ calls }) =>
    calls.map((each) => (each.id === call.id ? { ...call, ...(each.matches && { matches: each.matches }) } : each)),
  )

/** Puts a call at its place by time. A call behind the last page that was read will come with its own page. */
export function withNewCall(pages: CallPages, call: CallOverview): CallPages {
  if (findCall(pages, call.id)) return withChangedCall(pages, call)
  const isOlder = (other: CallOverview) => other.created_at <= call.created_at
  const found = pages.pages.findIndex(({ calls }) => calls.some(isOlder))
  const isWhole = pages.pages.at(-1)?.next_cursor === null
  const target = found < 0 && isWhole ? pages.pages.length - 1 : found
  return changed(pages, ({ calls }, at) => {
    if (at !== target) return calls
    const place = calls.findIndex(isOlder)
    return place < 0 ? [...calls, call] : calls.toSpliced(place, 0, call)
  })
}

export const isSameCall = (one: CallOverview, other: CallOverview) =>
  JSON.stringify({ ...one, matches: undefined }) === JSON.stringify({ ...other, matches: undefined })

const changed = (
  { pages, ...rest }: CallPages,
  change: (page: CallList, at: number) => readonly CallOverview[],
): CallPages => ({ ...rest, pages: pages.map((page, at) => ({ ...page, calls: [...change(page, at)] })) })
