import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { callsQuery } from '../../data/calls.ts'
import { writeSearch } from '../../data/search.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Button } from '../../parts/button.tsx'
import { count, zoneName } from '../../parts/formats.ts'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import styles from './calls-list.module.css'
import { CallsList } from './calls-list.tsx'
import { FilterBar } from './filter-bar.tsx'
import { countOf, type Filters, readFilters, toQuery } from './filters.ts'
import { SavedViews } from './saved-views.tsx'

/** Lists all calls, the newest first. */
export function CallsPage() {
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
      lead={`Times are in ${zoneName}.`}
      actions={<SavedViews canSave={isFiltered} />}
      command={{ path: `/v1/calls${query}`, cli: 'calls list' }}
    >
      <FilterBar filters={filters} change={change} clear={() => show({})} />
      <Calls filters={filters} clear={() => show({})} />
    </Page>
  )
}

function Calls({ filters, clear }: { filters: Filters; clear: () => void }) {
  const answer = useInfiniteQuery(callsQuery(toQuery(filters)))
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = answer
  const calls = useMemo(() => data?.pages.flatMap((page) => page.calls) ?? [], [data])
  const loadMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage()
  }, [isFetchingNextPage, fetchNextPage])
  return (
    <Answer of={answer} rows={12}>
      {() =>
        calls.length === 0 && !hasNextPage ? (
          <NoCalls isFiltered={countOf(filters) > 0} clear={clear} />
        ) : (
          <>
            <CallsList calls={calls} hasMore={hasNextPage} loadMore={loadMore} isSearch={filters.q !== undefined} />
            <p
              role="status"
              className={styles.sum}
            >{`${count(calls.length)}${hasNextPage ? ' and more' : ''} calls`}</p>
          </>
        )
      }
    </Answer>
  )
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
