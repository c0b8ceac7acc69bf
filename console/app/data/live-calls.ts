/** Keeps a list of calls up to date: changed calls change in place, and new calls come by themselves or wait. */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import type { CallOverview } from '../../../generated/clients/typescript/models/platform.ts'
import { type CallPages, withNewCall } from './call-pages.ts'
import { followCalls } from './call-stream.ts'
import { type CallFilters, callsQuery, readCalls } from './calls.ts'
import { followList } from './followed-list.ts'
import { type List, waitingMax } from './fresh-pages.ts'
import { whenReleased } from './hold.ts'
import { pause } from './pause.ts'
import { queries } from './queries.ts'

export type LiveCalls = {
  /** New calls wait here if their rows would move the rows on the screen. */
  waiting: readonly CallOverview[]
  /** Brings the waiting calls into the list. */
  show: () => void
  /** How often each row has changed lately, while the list was open. */
  changes: Changes
}

type Changes = ReadonlyMap<string, number>

/** No screen shows more rows, so older counts are forgotten. */
const changesMax = 200
const noCalls: readonly CallOverview[] = []
const noChanges: Changes = new Map()

/** `isHeld` tells whether the rows must stay where they are. */
export function useLiveCalls(filters: CallFilters, isHeld: () => boolean): LiveCalls {
  const isVisible = useSyncExternalStore(listenToVisibility, isTabVisible)
  const [waiting, changeWaiting] = useState(noCalls)
  const [changes, setChanges] = useState(noChanges)
  useEffect(() => {
    // A hidden tab closes its stream, because a browser opens only six connections to a server.
    if (!isVisible) return
    const controller = new AbortController()
    const { signal } = controller
    const count = (id: string) => setChanges((known) => withChange(known, id))
    const hold = { isHeld, whenReleased: () => whenReleased(isHeld, signal) }
    const list = followList({ ...cachedList(filters, signal), ...hold, changeWaiting, count }, signal)
    void followCalls(filters, list, signal)
    return () => {
      controller.abort()
      changeWaiting(noCalls)
      setChanges(noChanges)
    }
  }, [filters, isHeld, isVisible])
  const show = useCallback(() => {
    const shown = () => changeWaiting((calls) => calls.filter((call) => !waiting.includes(call)))
    void showCalls(filters, waiting).then(shown)
  }, [filters, waiting])
  useEffect(() => {
    if (waiting.length > 0 && !isHeld()) show()
  }, [waiting, isHeld, show])
  return { waiting, show, changes }
}

async function showCalls(filters: CallFilters, calls: readonly CallOverview[]): Promise<void> {
  const { pages, put, reset, whenLoaded } = cached(filters)
  // The answer to a load under way would replace rows that are put in before it.
  await whenLoaded()
  const known = pages()
  if (calls.length >= waitingMax) reset()
  else if (known) put(calls.reduce(withNewCall, known))
}

/** The newest counts are last. */
function withChange(changes: Changes, id: string): Changes {
  const next = new Map(changes)
  next.delete(id)
  next.set(id, (changes.get(id) ?? 0) + 1)
  const [oldest] = next.keys()
  if (next.size > changesMax && oldest !== undefined) next.delete(oldest)
  return next
}

type CachedList = Omit<List, 'isHeld' | 'whenReleased' | 'changeWaiting' | 'count'>

function cachedList(filters: CallFilters, signal: AbortSignal): CachedList {
  return {
    ...cached(filters),
    read: (cursor) => readCalls(filters, cursor, signal),
    isByTime: isByTime(filters),
    pause: (ms) => pause(ms, signal),
  }
}

function cached(filters: CallFilters): Pick<List, 'pages' | 'put' | 'reset' | 'isLoading' | 'whenLoaded'> {
  const { queryKey } = callsQuery(filters)
  const isLoading = () => queries.getQueryState(queryKey)?.fetchStatus === 'fetching'
  return {
    pages: () => queries.getQueryData<CallPages>(queryKey),
    put: (pages) => void queries.setQueryData<CallPages>(queryKey, pages),
    reset: () => void queries.resetQueries({ queryKey, exact: true }),
    isLoading,
    whenLoaded: () =>
      new Promise((resolve) => {
        if (!isLoading()) return resolve()
        const end = queries.getQueryCache().subscribe(() => {
          if (isLoading()) return
          end()
          resolve()
        })
      }),
  }
}

/** Returns true if the list is sorted by time and has no searched words. */
const isByTime = ({ q, sort = 'created_at' }: CallFilters) => q === undefined && sort === 'created_at'

const isTabVisible = () => document.visibilityState === 'visible'

function listenToVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}
