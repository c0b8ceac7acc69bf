import { SelectField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { words } from '../../parts/formats.ts'
import { SpanField } from '../../parts/span-field.tsx'
import { actorTypes, type Filters, families, spans } from './filters.ts'

type BarProps = { filters: Filters; change: (changed: Filters | null) => void }

const any = { value: '', label: 'Any' }

export function FilterBar({ filters, change }: BarProps) {
  const { action = '', actorType = '', result = '' } = filters
  const actions = families.map((family) => ({ value: `${family}.*`, label: words(family) }))
  const isListed = action === '' || actions.some(({ value }) => value === action)
  return (
    <FilterRow clear={Object.keys(filters).length > 0 ? () => change(null) : null}>
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
      <SpanField range={filters} spans={spans} change={change} />
    </FilterRow>
  )
}
