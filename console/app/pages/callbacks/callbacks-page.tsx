import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Callback, CallbackStatus } from '../../../../generated/clients/typescript/models/platform.ts'
import { type CallbackFilters, callbacksQuery, useCancelCallback, useDispatchCallback } from '../../data/callbacks.ts'
import { pick, writeSearch } from '../../data/search.ts'
import { useFilterChange, useSearchValues } from '../../parts/address.ts'
import { AgentName } from '../../parts/agent-name.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { SelectField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { words } from '../../parts/formats.ts'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Older } from '../../parts/older.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { useTimes } from '../../parts/times.tsx'

const statuses: readonly CallbackStatus[] = ['scheduled', 'dispatching', 'dispatched', 'cancelled', 'failed']

/** Calls that agents have promised to make. The status in the page's URL filters the list. */
export function CallbacksPage() {
  const { zone } = useTimes()
  const filters = pick(useSearchValues(), ['status', 'source_session_id'])
  const change = useFilterChange(filters)
  const isFiltered = Object.keys(filters).length > 0
  const callbacks = useInfiniteQuery(callbacksQuery(filters as CallbackFilters))
  const cancel = useCancelCallback()
  const dispatch = useDispatchCallback()
  const actions: Column<Callback> = {
    name: 'Actions',
    cell: ({ id, status, to_number: to }) =>
      status === 'scheduled' && (
        <Line>
          <RoleButton
            needs="dispatchCallback"
            isSmall
            aria-label={`Call now: ${to}`}
            disabled={dispatch.isPending}
            onClick={() => dispatch.mutate(id)}
          >
            Call now
          </RoleButton>
          <RoleButton
            needs="cancelCallback"
            isSmall
            look="alarm"
            aria-label={`Cancel the callback to ${to}`}
            disabled={cancel.isPending}
            onClick={() => cancel.mutate(id)}
          >
            Cancel
          </RoleButton>
        </Line>
      ),
  }
  return (
    <Page
      title="Callbacks"
      lead={`Calls that agents have promised to make later. Times are in ${zone}.`}
      command={{ path: `/v1/callbacks${writeSearch(filters)}`, cli: 'callbacks list' }}
    >
      <FilterRow clear={isFiltered ? () => change(null) : null}>
        <SelectField
          label="Status"
          value={filters.status ?? ''}
          choices={[{ value: '', label: 'Any' }, ...statuses.map((value) => ({ value, label: value }))]}
          onChange={({ target }) => change({ status: target.value })}
        />
      </FilterRow>
      <RoleNote needs="dispatchCallback" action="Making and cancelling calls" />
      <ActionFault error={dispatch.error ?? cancel.error} />
      <Answer of={callbacks} rows={8}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.callbacks)
          if (rows.length === 0) return <NoCallbacks isFiltered={isFiltered} />
          return (
            <Stack>
              <Table label="Callbacks" columns={[...columns, actions]} rows={rows} keyOf={({ id }) => id} />
              <Older of={callbacks} what="callbacks" />
            </Stack>
          )
        }}
      </Answer>
    </Page>
  )
}

const tones: Record<CallbackStatus, Tone> = {
  scheduled: 'accent',
  dispatching: 'warn',
  dispatched: 'good',
  cancelled: 'plain',
  failed: 'alarm',
}

const columns: readonly Column<Callback>[] = [
  { name: 'Due', cell: ({ scheduled_at: at }) => <Moment at={at} /> },
  {
    name: 'To',
    cell: ({ to_number: to }) => (
      <strong>
        <Private>{to}</Private>
      </strong>
    ),
  },
  { name: 'Agent', cell: ({ agent_id: id }) => <AgentName id={id} /> },
  {
    name: 'Status',
    cell: ({ status, failure_cause: cause }) => (
      <Line>
        <Badge tone={tones[status]}>{status}</Badge>
        {cause !== null && <Faint>{words(cause)}</Faint>}
      </Line>
    ),
  },
  { name: 'Why', cell: ({ reason }) => reason !== null && <Private>{reason}</Private> },
  {
    name: 'Calls',
    cell: ({ source_session_id: source, created_session_id: created }) => (
      <Line>
        <CallLink id={source}>promised in</CallLink>
        {created !== null && <CallLink id={created}>kept in</CallLink>}
      </Line>
    ),
  },
]

const CallLink = ({ id, children }: { id: string; children: string }) => (
  <Link to="/calls/$id" params={{ id }}>
    {children}
  </Link>
)

function NoCallbacks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No callback matches this filter" />
  return (
    <Empty title="No callback yet">
      <p>An agent with the tool for callbacks promises a call at a time, and makes it then.</p>
    </Empty>
  )
}
