import { X } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { SelectField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { moment, words } from '../../parts/formats.ts'
import { actorTypes, type Filters, families, spans } from './filters.ts'

type BarProps = { filters: Filters; change: (changed: Filters | null) => void }

const any = { value: '', label: 'Any' }

export function FilterBar({ filters, change }: BarProps) {
  const { action = '', actorType = '', result = '' } = filters
  const actions = families.map((family) => ({ value: `${family}.*`, label: words(family) }))
  const isListed = action === '' || actions.some(({ value }) => value === action)
  return (
    <FilterRow>
      <SelectField
        label="What"
        value={action}
        choices={[any, ...actions, ...(isListed ? [] : [{ value: action, label: words(action) }])]}
        onChange={({ target }) => change({ action: target.value })}
      />
      <SelectField
        label="By"
        value={actorType}
        choices={[any, ...actorTypes]}
        onChange={({ target }) => change({ actorType: target.value })}
      />
      <SelectField
        label="Result"
        value={result}
        choices={[any, { value: 'succeeded', label: 'succeeded' }, { value: 'denied', label: 'denied' }]}
        onChange={({ target }) => change({ result: target.value })}
      />
      <TimeField filters={filters} change={change} />
      {Object.keys(filters).length > 0 && (
        <Button look="quiet" onClick={() => change(null)}>
          <X aria-hidden="true" />
          Clear
        </Button>
      )}
    </FilterRow>
  )
}

function TimeField({ filters: { from, to }, change }: BarProps) {
  const isSet = from !== undefined || to !== undefined
  const own = `${from ? `From ${moment(from)}` : ''}${to ? ` until ${moment(to)}` : ''}`
  return (
    <SelectField
      label="Time"
      value={isSet ? 'own' : ''}
      choices={[
        { value: '', label: 'Any time' },
        ...(isSet ? [{ value: 'own', label: own }] : []),
        ...spans.map(({ name }) => ({ value: name, label: name })),
      ]}
      onChange={({ target }) => {
        const span = spans.find(({ name }) => name === target.value)
        change({ from: span ? new Date(Date.now() - span.ms).toISOString() : '', to: '' })
      }}
    />
  )
}
