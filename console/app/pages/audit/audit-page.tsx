import { useInfiniteQuery } from '@tanstack/react-query'
import type { AuditEvent } from '../../../../generated/clients/typescript/models/platform.ts'
import { auditQuery } from '../../data/audit.ts'
import { writeSearch } from '../../data/search.ts'
import { useFilterChange, useSearchValues } from '../../parts/address.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { words } from '../../parts/formats.ts'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Older } from '../../parts/older.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { useTimes } from '../../parts/times.tsx'
import { FilterBar } from './filter-bar.tsx'
import { readFilters, toQuery } from './filters.ts'

/** The audit log. Its filters are in the page's URL. */
export function AuditPage() {
  const { zone } = useTimes()
  const filters = readFilters(useSearchValues())
  const change = useFilterChange(filters)
  const events = useInfiniteQuery(auditQuery(toQuery(filters)))
  return (
    <Page
      title="Audit log"
      lead={`What people, keys and commands changed, the newest first. Times are in ${zone}.`}
      command={{ path: `/v1/audit-events${writeSearch(filters)}`, cli: 'audit' }}
    >
      <FilterBar filters={filters} change={change} />
      <Answer of={events} rows={10}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.events)
          if (rows.length === 0)
            return <NoEvents isFiltered={Object.keys(filters).length > 0} clear={() => change(null)} />
          return (
            <Stack>
              <Table label="Events" columns={columns} rows={rows} keyOf={({ id }) => id} />
              <Older of={events} what="events" />
            </Stack>
          )
        }}
      </Answer>
    </Page>
  )
}

const columns: readonly Column<AuditEvent>[] = [
  { name: 'Time', cell: ({ occurredAt }) => <Moment at={occurredAt} /> },
  { name: 'By', cell: Actor },
  { name: 'What', cell: Action },
  { name: 'On', cell: Target },
  { name: 'Changed', cell: Changed },
  { name: 'From', cell: Source, isExtra: true },
]

const unnamed = { user: 'a person', api_key: 'a key', operator: 'the operator', system: 'the server' } as const

function Actor({ actor: { type, id, name } }: AuditEvent) {
  const text = name ?? id
  return text === null ? unnamed[type] : <Private>{text}</Private>
}

function Action({ action, result }: AuditEvent) {
  return (
    <Line>
      {words(action)}
      {result === 'denied' && <Badge tone="warn">denied</Badge>}
    </Line>
  )
}

function Target({ target }: AuditEvent) {
  if (target === null) return null
  return (
    <span title={target.id}>
      <Faint>{words(target.type)}</Faint> <Private>{target.name ?? target.id}</Private>
    </span>
  )
}

/** A few fields have their values before and after. The log has the names of all others. */
function Changed({ changed, values = {} }: AuditEvent) {
  const compared = Object.entries(values).map(([name, [before, after]]) => (
    <span key={name}>{`${name}: ${before ?? '–'} → ${after ?? '–'} `}</span>
  ))
  const names = changed.filter((name) => !Object.hasOwn(values, name))
  return (
    <>
      {compared}
      {names.join(', ')}
    </>
  )
}

function Source({ source: { ip, via } }: AuditEvent) {
  return (
    <>
      {via}
      {ip !== null && (
        <>
          {', '}
          <Private>{ip}</Private>
        </>
      )}
    </>
  )
}

function NoEvents({ isFiltered, clear }: { isFiltered: boolean; clear: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No event matches these filters">
        <Button onClick={clear}>Show all events</Button>
      </Empty>
    )
  return (
    <Empty title="Nothing has been changed yet">
      <p>Each change of keys, members, agents and settings is listed here, with the person or key that made it.</p>
    </Empty>
  )
}
