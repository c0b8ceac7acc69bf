import { Search, X } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { AgentFilter, NumberFilter } from '../../parts/call-filters.tsx'
import { SelectField } from '../../parts/field.tsx'
import { onSubmit } from '../../parts/form-values.ts'
import { words } from '../../parts/formats.ts'
import { useShortcuts } from '../../parts/shortcuts.tsx'
import { useTimes } from '../../parts/times.tsx'
import styles from './filter-bar.module.css'
import { countOf, type Filters, kinds, orders, outcomes, statuses } from './filters.ts'
import { periods } from './periods.ts'

type BarProps = { filters: Filters; change: (change: Filters) => void; clear: () => void }

/** Draws the filters. All filters are in the page's URL, so a filtered list can be shared and reloaded. */
export function FilterBar({ filters, change, clear }: BarProps) {
  return (
    <div className={styles.bar}>
      <SearchField value={filters.q ?? ''} search={(q) => change({ q, sort: '' })} />
      <PeriodField filters={filters} change={change} />
      <AgentFilter value={filters.agent_id ?? ''} choose={(agentId) => change({ agent_id: agentId })} />
      <Choice label="Outcome" values={outcomes} value={filters.outcome} choose={(outcome) => change({ outcome })} />
      <Choice label="Status" values={statuses} value={filters.status} choose={(status) => change({ status })} />
      <Choice label="Kind" values={kinds} value={filters.kind} choose={(kind) => change({ kind })} />
      {filters.q === undefined && (
        <SelectField
          label="Order"
          choices={orders}
          value={filters.sort ?? ''}
          onChange={(event) => change({ sort: event.target.value })}
        />
      )}
      <NumberFilter key={filters.number} value={filters.number ?? ''} search={(number) => change({ number })} />
      {countOf(filters) > 0 && (
        <Button look="quiet" className={styles.clear} onClick={clear}>
          <X aria-hidden="true" />
          Clear
        </Button>
      )}
    </div>
  )
}

type Text = { value: string; search: (text: string) => void }

/** Searches when a person presses Enter. The key "/" moves the cursor here. */
function SearchField({ value, search }: Text) {
  const input = useRef<HTMLInputElement>(null)
  const shortcuts = useRef([{ keys: '/', label: 'Search words', run: () => input.current?.focus() }])
  useShortcuts(shortcuts.current)
  return (
    <form className={styles.search} role="search" onSubmit={onSubmit((values) => search(values.text('text')))}>
      <Search aria-hidden="true" />
      <input
        key={value}
        ref={input}
        name="text"
        type="search"
        defaultValue={value}
        minLength={2}
        maxLength={200}
        placeholder="Words said"
        aria-label="Words that were said in the call"
      />
    </form>
  )
}

type ChoiceProps = {
  label: string
  values: readonly string[]
  value: string | undefined
  choose: (value: string) => void
}

function Choice({ label, values, value = '', choose }: ChoiceProps) {
  const choices = [{ value: '', label: 'Any' }, ...values.map((each) => ({ value: each, label: words(each) }))]
  return <SelectField label={label} choices={choices} value={value} onChange={(event) => choose(event.target.value)} />
}

function PeriodField({ filters: { since, until }, change }: Omit<BarProps, 'clear'>) {
  const { zone, moment } = useTimes()
  const known = periods(new Date(), zone)
  const at = known.findIndex((period) => period.since === since && period.until === until)
  const own = {
    value: 'own',
    label: `${since ? `From ${moment(since)}` : ''}${until ? ` until ${moment(until)}` : ''}`,
  }
  const choices = known.map(({ name }, index) => ({ value: String(index), label: name }))
  return (
    <SelectField
      label="Time"
      value={at < 0 ? own.value : String(at)}
      choices={at < 0 ? [...choices, own] : choices}
      onChange={(event) => {
        const { since: from = '', until: to = '' } = known[Number(event.target.value)] ?? {}
        change({ since: from, until: to })
      }}
    />
  )
}
