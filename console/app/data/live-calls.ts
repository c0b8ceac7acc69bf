/** Keeps a list of calls up to date: changed calls change in place, and new calls come by themselves or wait. */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import type { CallOverview } from '../../../generated/clients/typescript/models/platform.ts'
import { type CallPages, findCall, isSameCall, withChangedCall, withNewCall, withoutCall } from './call-pages.ts'
import { followCalls } from './call-stream.ts'
import { type CallFilters, callsQuery } from './calls.ts'
import { queries } from './queries.ts'

export type LiveCalls = {
  /** New calls wait here if their rows would move the rows on the screen. */
  waiting: readonly CallOverview[]
  /** Brings the waiting calls into the list. */
  show: () => void
  /** How often each row has changed since the page was opened. */
  changes: ReadonlyMap<string, number>
}

/** If more calls wait, the rest is forgotten: the list is read again before a person looks at it. */
const waitingMax = 200

/** `isHeld` tells whether the rows must stay where they are. */
export function useLiveCalls(filters: CallFilters, isHeld: () => boolean): LiveCalls {
  const isVisible = useSyncExternalStore(listenToVisibility, isTabVisible)
  const [waiting, setWaiting] = useState<readonly CallOverview[]>([])
  const [changes, setChanges] = useState<ReadonlyMap<string, number>>(new Map())
  useEffect(() => {
    // A hidden tab closes its stream, because a browser opens only six connections to a server.
    if (!isVisible) return
    const controller = new AbortController()
    const { queryKey } = callsQuery(filters)
    const update = (change: (pages: CallPages) => CallPages) =>
      queries.setQueryData<CallPages>(queryKey, (pages) => pages && change(pages))
    const gone = (id: string) => {
      update((pages) => withoutCall(pages, id))
      setWaiting((calls) => calls.filter((call) => call.id !== id))
    }
    const changed = (call: CallOverview) => {
      const pages = queries.getQueryData<CallPages>(queryKey)
      if (!pages) return
      const shown = findCall(pages, call.id)
      if (!shown) {
        if (isByTime(filters))
          setWaiting((calls) => [call, ...calls.filter(({ id }) => id !== call.id)].slice(0, waitingMax))
      } else if (!isSameCall(shown, call)) {
        update((known) => withChangedCall(known, call))
        setChanges((known) => new Map(known).set(call.id, (known.get(call.id) ?? 0) + 1))
      }
    }
    void followCalls(filters, { gone, changed }, controller.signal)
    return () => {
      controller.abort()
      setWaiting([])
    }
  }, [filters, isVisible])
  const show = useCallback(() => {
    queries.setQueryData<CallPages>(
      callsQuery(filters).queryKey,
      (pages) => pages && waiting.reduce(withNewCall, pages),
    )
    setWaiting([])
  }, [filters, waiting])
  useEffect(() => {
    if (waiting.length > 0 && !isHeld()) show()
  }, [waiting, isHeld, show])
  return { waiting, show, changes }
}

/** Returns true if the list is sorted by time and has no searched words. Only then can a new call be inserted. */
const isByTime = ({ q, sort = 'created_at' }: CallFilters) => q === undefined && sort === 'created_at'

const isTabVisible = () => document.visibilityState === 'visible'

function listenToVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}
