import { SelectField } from './field.tsx'
import { useTimes } from './times.tsx'

type Range = { from?: string; to?: string }
export type Span = { name: string; ms: number }
type FieldProps = { range: Range; spans: readonly Span[]; change: (range: Range) => void }

/**
 * Chooses a list's range of time. A span becomes an absolute time, so that a link shows everybody the same rows. A
 * range that came with a link is a choice too.
 */
export function SpanField({ range: { from, to }, spans, change }: FieldProps) {
  const { moment } = useTimes()
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
