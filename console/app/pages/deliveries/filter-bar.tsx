import type { WebhookDeliveryPage } from '../../../../generated/clients/typescript/models/platform.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { onSubmit } from '../../parts/form-values.ts'
import { words } from '../../parts/formats.ts'
import { SpanField } from '../../parts/span-field.tsx'
import { events, type Filters, spans, statuses } from './filters.ts'

type BarProps = {
  filters: Filters
  change: (changed: Filters | null) => void
  endpoints: WebhookDeliveryPage['endpointOptions']
}

const any = { value: '', label: 'Any' }

export function FilterBar({ filters, change, endpoints }: BarProps) {
  const { status = '', event = '', endpointId = '', sessionId = '' } = filters
  const named = endpoints.map(({ id, name, deleted }) => ({ value: id, label: deleted ? `${name} (deleted)` : name }))
  return (
    <FilterRow clear={Object.keys(filters).length > 0 ? () => change(null) : null}>
      <SelectField
        label="Status"
        value={status}
        choices={[any, ...statuses.map((each) => ({ value: each, label: words(each) }))]}
        onChange={({ target }) => change({ status: target.value })}
      />
      <SelectField
        label="Event"
        value={event}
        choices={[any, ...events.map((each) => ({ value: each, label: each }))]}
        onChange={({ target }) => change({ event: target.value })}
      />
      <SelectField
        label="Endpoint"
        value={endpointId}
        choices={[any, ...named]}
        onChange={({ target }) => change({ endpointId: target.value })}
      />
      <SpanField range={filters} spans={spans} change={change} />
      <form key={sessionId} onSubmit={onSubmit((values) => change({ sessionId: values.text('sessionId') }))}>
        <TextField label="Call" name="sessionId" defaultValue={sessionId} placeholder="Id of a call" />
      </form>
    </FilterRow>
  )
}
