import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import { type CallFilters, callsQuery } from '../../data/calls.ts'
import { useLiveCalls } from '../../data/live-calls.ts'
import { writeSearch } from '../../data/search.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Button } from '../../parts/button.tsx'
import { count, plural } from '../../parts/formats.ts'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { useTimes } from '../../parts/times.tsx'
import styles from './calls-list.module.css'
import { CallsList } from './calls-list.tsx'
import { FilterBar } from './filter-bar.tsx'
import { countOf, type Filters, readFilters, toQuery } from './filters.ts'
import { SavedViews } from './saved-views.tsx'

/** Lists the calls, the newest first, or in the order that the page's URL names. */
export function CallsPage() {
  const { zone } = useTimes()
  const search = useSearchValues()
  const filters = useMemo(() => readFilters(search), [search])
  const navigate = useNavigate()
  const show = (next: Filters) => void navigate({ to: '/calls', search: next })
  const change = (part: Filters) => show({ ...filters, ...part })
  const isFiltered = countOf(filters) > 0
  const query = writeSearch(filters)
  return (
    <Page
      title="Calls"
      lead={`Times are in ${zone}.`}
      actions={<SavedViews canSave={isFiltered} />}
      command={{ path: `/v1/calls${query}`, cli: 'calls list' }}
    >
      <FilterBar filters={filters} change={change} clear={() => show({})} />
      <Calls filters={filters} clear={() => show({})} />
    </Page>
  )
}

function Calls({ filters, clear }: { filters: Filters; clear: () => void }) {
  const query = useMemo(() => toQuery(filters), [filters])
  const answer = useInfiniteQuery(callsQuery(query))
  const scroller = useRef<HTMLDivElement>(null)
  const { waiting, show, changes } = useLiveCalls(query, useHold(scroller))
  const { data, error, refetch, hasNextPage } = answer
  const { isNextFailed, askForMore, loadMore } = useNextPage(query, answer)
  const calls = useMemo(() => data?.pages.flatMap((page) => page.calls) ?? [], [data])
  return (
    <Answer of={{ data, error: isNextFailed ? null : error, refetch }} rows={12}>
      {() =>
        calls.length === 0 && !hasNextPage ? (
          <NoCalls isFiltered={countOf(filters) > 0} clear={clear} />
        ) : (
          <>
            <CallsList
              calls={calls}
              changes={changes}
              scroller={scroller}
              hasMore={hasNextPage}
              loadMore={loadMore}
              isSearch={filters.q !== undefined}
              toSlowest={filters.sort === 'slowest_turn_ms'}
            />
            <div role="status" className={styles.sum}>
              {`${count(calls.length)}${hasNextPage ? ' and more' : ''} calls`}
              {isNextFailed && (
                <>
                  More calls could not be loaded.
                  <Button isSmall onClick={askForMore}>
                    Load more
                  </Button>
                </>
              )}
              {waiting.length > 0 && (
                <Button
                  isSmall
                  onClick={() => {
                    show()
                    scroller.current?.scrollTo({ top: 0 })
                  }}
                >{`Show ${plural(waiting.length, 'new call')}`}</Button>
              )}
            </div>
          </>
        )
      }
    </Answer>
  )
}

type NextPage = {
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage: () => Promise<{ isFetchNextPageError: boolean }>
}

/**
 * After a failure only a person asks for the next page again, because the list would ask without a pause. Each change
 * from the stream clears the query's error, so the page keeps the failure itself, until the filters change.
 */
function useNextPage(filters: CallFilters, { isFetchingNextPage, isFetchNextPageError, fetchNextPage }: NextPage) {
  const [failed, setFailed] = useState<CallFilters | null>(null)
  const isNextFailed = isFetchNextPageError || failed === filters
  const askForMore = useCallback(() => {
    void fetchNextPage().then((answer) => setFailed(answer.isFetchNextPageError ? filters : null))
  }, [fetchNextPage, filters])
  const canLoadMore = !isFetchingNextPage && !isNextFailed
  const loadMore = useCallback(() => {
    if (canLoadMore) askForMore()
  }, [canLoadMore, askForMore])
  return { isNextFailed, askForMore, loadMore }
}

/** Rows must not move while a person has scrolled down, or while the focus is on a row. */
function useHold(scroller: RefObject<HTMLDivElement | null>): () => boolean {
  return useCallback(() => {
    const list = scroller.current
    return list !== null && (list.scrollTop > 0 || list.contains(document.activeElement))
  }, [scroller])
}

function NoCalls({ isFiltered, clear }: { isFiltered: boolean; clear: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No call matches these filters">
        <Button onClick={clear}>Show all calls</Button>
      </Empty>
    )
  return (
    <Empty title="No calls yet">
      <p>Each call and each session of a browser appears here, with what was said and how long the answers took.</p>
    </Empty>
  )
}
