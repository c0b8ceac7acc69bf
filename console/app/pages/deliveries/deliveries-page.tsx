import { useInfiniteQuery } from '@tanstack/react-query'
import { deliveriesQuery } from '../../data/deliveries.ts'
import { writeSearch } from '../../data/search.ts'
import { useFilterChange, useSearchValues } from '../../parts/address.ts'
import { Button } from '../../parts/button.tsx'
import { DeliveriesTable } from '../../parts/deliveries.tsx'
import { Stack } from '../../parts/layout.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Older } from '../../parts/older.tsx'
import { Page } from '../../parts/page.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { Answer, Empty } from '../../parts/states.tsx'
import { useTimes } from '../../parts/times.tsx'
import { FilterBar } from './filter-bar.tsx'
import { readFilters, toQuery } from './filters.ts'

/** Shows the log of deliveries. The filters are in the page's URL. */
export function DeliveriesPage() {
  const { zone } = useTimes()
  const filters = readFilters(useSearchValues())
  const change = useFilterChange(filters)
  const deliveries = useInfiniteQuery(deliveriesQuery(toQuery(filters)))
  useRowKeys()
  const endpoints = deliveries.data?.pages[0]?.endpointOptions ?? []
  const path = `/v1/webhook-deliveries${writeSearch(filters)}`
  return (
    <Page
      title="Deliveries"
      lead={`Each event that was sent to a webhook endpoint, the newest first. Times are in ${zone}.`}
      command={{ path, cli: 'webhooks tail' }}
    >
      <FilterBar filters={filters} change={change} endpoints={endpoints} />
      <Answer of={deliveries} rows={10}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0)
            return <NoRows isFiltered={Object.keys(filters).length > 0} clear={() => change(null)} />
          return (
            <Stack>
              <DeliveriesTable rows={rows} />
              <Older of={deliveries} what="deliveries" />
            </Stack>
          )
        }}
      </Answer>
    </Page>
  )
}

function NoRows({ isFiltered, clear }: { isFiltered: boolean; clear: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No delivery matches these filters">
        <Button onClick={clear}>Show all deliveries</Button>
      </Empty>
    )
  return (
    <Empty title="Nothing has been delivered yet">
      <p>
        When a call begins, changes or ends, its events are sent to your endpoints, and each attempt is listed here.
      </p>
      <LinkButton to="/webhooks/new" look="main">
        Add an endpoint
      </LinkButton>
    </Empty>
  )
}
