import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Usage } from '../../../../generated/clients/typescript/models/platform.ts'
import { writeSearch } from '../../data/search.ts'
import { usageQuery } from '../../data/usage.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Card } from '../../parts/card.tsx'
import { shellWord } from '../../parts/command-strip.tsx'
import { Facts } from '../../parts/facts.tsx'
import { SelectField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { count, minutes, money } from '../../parts/formats.ts'
import { Stack, Tabs } from '../../parts/layout.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { useTimes } from '../../parts/times.tsx'
import { Credit } from './credit.tsx'
import { type Filters, groupOf, groups, periodOf, readFilters, toQuery } from './filters.ts'
import { periods } from './periods.ts'
import { phoneTime, UsageRows } from './usage-rows.tsx'

/** Shows usage and costs by model, key, day and so on, and the credit. */
export function UsagePage() {
  const search = useSearchValues()
  const isCredit = search['tab'] === 'credit'
  const filters = readFilters(search)
  const { zone } = useTimes()
  const query = toQuery(filters, zone)
  return (
    <Page
      title="Usage"
      lead={`What was used, and what it cost. Days and months are in ${zone}.`}
      command={
        isCredit
          ? { path: '/v1/credits', cli: 'credits' }
          : { path: `/v1/usage${writeSearch(query)}`, cli: `usage --by ${query.groupBy ?? ''}${timesOf(filters)}` }
      }
    >
      <Tabs
        label="Views of usage"
        tabs={[
          { name: 'Usage', to: '/usage', isCurrent: !isCredit },
          { name: 'Credit', to: '/usage', search: { tab: 'credit' }, isCurrent: isCredit },
        ]}
      />
      {isCredit ? <Credit /> : <Used filters={filters} />}
    </Page>
  )
}

const timesOf = ({ from, to }: Filters) =>
  `${from ? ` --from ${shellWord(from)}` : ''}${to ? ` --to ${shellWord(to)}` : ''}`

function Used({ filters }: { filters: Filters }) {
  const usage = useQuery(usageQuery(toQuery(filters, useTimes().zone)))
  return (
    <>
      <Choices filters={filters} />
      <Answer of={usage}>{(data) => <Found usage={data} filters={filters} />}</Answer>
    </>
  )
}

function Found({ usage, filters }: { usage: Usage; filters: Filters }) {
  const { day } = useTimes()
  const isOver = filters.to !== undefined && Date.parse(filters.to) < Date.now()
  if (usage.rows.length === 0)
    return (
      <Empty title="Nothing was used in this time">
        <p>Each request to a model and each minute on the phone is counted here, with its cost.</p>
        {isOver ? <p>Choose another time above.</p> : <LinkButton to="/agents">Talk to an agent</LinkButton>}
      </Empty>
    )
  const { total, from, to, totalSessions, totalMinutes } = usage
  return (
    <Stack>
      <Card>
        <Facts
          rows={[
            ['Cost', <strong key="cost">{money(total.costMicroUsd)}</strong>],
            ['Requests', count(total.requests)],
            ['Failed requests', count(total.failed)],
            ['Answered legs of phone calls', count(total.legs)],
            ['Time on the phone', phoneTime(total.quantities)],
            ['Conversations', count(totalSessions)],
            ['Time in conversations', minutes(totalMinutes)],
            ['Without a known price', total.unpriced > 0 ? count(total.unpriced) : null],
            ['Time', `${day(from)} to ${day(to)}`],
          ]}
        />
      </Card>
      <UsageRows rows={usage.rows} group={groupOf(filters)} total={total} />
    </Stack>
  )
}

function Choices({ filters }: { filters: Filters }) {
  const navigate = useNavigate()
  const change = (changed: Filters) =>
    void navigate({ to: '/usage', search: { ...filters, ...changed }, replace: true })
  const known = periods(new Date(), useTimes().zone)
  const period = periodOf(filters, known)
  const own = { value: 'own', label: `${filters.from ?? ''} to ${filters.to ?? 'now'}` }
  return (
    <FilterRow>
      <SelectField
        label="Time"
        value={period}
        choices={period === 'own' ? [...known, own] : known}
        onChange={({ target }) => {
          const { from = '', to = '' } = known.find(({ value }) => value === target.value) ?? {}
          change({ from, to })
        }}
      />
      <SelectField
        label="By"
        value={groupOf(filters)}
        choices={groups}
        onChange={({ target }) => change({ groupBy: target.value })}
      />
    </FilterRow>
  )
}
