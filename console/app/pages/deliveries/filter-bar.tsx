import { X } from 'lucide-react'
import type { WebhookDeliveryPage } from '../../../../generated/clients/typescript/models/platform.ts'
import { Button } from '../../parts/button.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { onSubmit } from '../../parts/form-values.ts'
import { moment, words } from '../../parts/formats.ts'
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
    <FilterRow>
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
      <SpanField filters={filters} change={change} />
      <form key={sessionId} onSubmit={onSubmit((values) => change({ sessionId: values.text('sessionId') }))}>
        <TextField label="Call" name="sessionId" defaultValue={sessionId} placeholder="Id of a call" />
      </form>
      {Object.keys(filters).length > 0 && (
        <Button look="quiet" onClick={() => change(null)}>
          <X aria-hidden="true" />
          Clear
        </Button>
      )}
    </FilterRow>
  )
}

function SpanField({ filters: { from, to }, change }: Omit<BarProps, 'endpoints'>) {
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
