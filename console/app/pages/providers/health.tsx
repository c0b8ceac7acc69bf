import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ModelHealth } from '../../../../generated/clients/typescript/models/platform.ts'
import { providerHealthQuery } from '../../data/providers.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { SelectField } from '../../parts/field.tsx'
import { FilterRow } from '../../parts/filter-row.tsx'
import { count, milliseconds, words } from '../../parts/formats.ts'
import { Faint, Line } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'

/** The models with the worst state that any process of this server sees. The page reads them again by itself. */
export function Health() {
  const health = useQuery(providerHealthQuery)
  const { stage = '', all } = useSearchValues() as { stage?: string; all?: string }
  const navigate = useNavigate()
  const show = (search: { stage?: string; all?: string }) =>
    void navigate({ to: '/providers', search: { tab: 'health', stage, all, ...search }, replace: true })
  return (
    <>
      <FilterRow>
        <SelectField
          label="For"
          value={stage}
          choices={[{ value: '', label: 'Any' }, ...stages]}
          onChange={({ target }) => show({ stage: target.value })}
        />
        <SelectField
          label="Models"
          value={all === 'true' ? 'true' : ''}
          choices={[
            { value: '', label: 'with a key' },
            { value: 'true', label: 'all' },
          ]}
          onChange={({ target }) => show({ all: target.value })}
        />
      </FilterRow>
      <Answer of={health} rows={10}>
        {(models) => {
          const rows = models.filter(
            (model) => (stage === '' || model.stage === stage) && (all === 'true' || model.state !== 'no_credential'),
          )
          if (rows.length === 0) return <Empty title="No model matches these filters" />
          return <Table label="Health" columns={columns} rows={rows} keyOf={keyOf} />
        }}
      </Answer>
    </>
  )
}

const stages = [
  { value: 'stt', label: 'speech to text' },
  { value: 'llm', label: 'language models' },
  { value: 'tts', label: 'text to speech' },
]

const keyOf = ({ provider, stage, model, path }: ModelHealth) => `${provider} ${stage} ${model} ${path}`

const tones: Record<ModelHealth['state'], Tone> = {
  ok: 'good',
  degraded: 'warn',
  open: 'alarm',
  no_credential: 'plain',
  unknown: 'plain',
}

/** The API calls a paused model `open`, because its circuit is open. */
const labels: Record<ModelHealth['state'], string> = {
  ok: 'ok',
  degraded: 'failures',
  open: 'paused',
  no_credential: 'no key',
  unknown: 'not used lately',
}

const ms = (value: number | null) => (value === null ? '' : milliseconds(value))

const columns: readonly Column<ModelHealth>[] = [
  {
    name: 'Model',
    cell: ({ provider, model }) => (
      <>
        <strong>{model}</strong> <Faint>{provider}</Faint>
      </>
    ),
  },
  { name: 'For', cell: ({ stage, path }) => `${stage}, ${path}` },
  {
    name: 'State',
    cell: ({ state, reason }) => (
      <Line>
        <Badge tone={tones[state]}>{labels[state]}</Badge>
        {reason !== null && state !== 'no_credential' && <Faint>{words(reason)}</Faint>}
      </Line>
    ),
  },
  {
    name: 'Failures',
    cell: ({ errorRate }) => (errorRate === null ? '' : `${(errorRate * 100).toFixed(1)} %`),
    isNumber: true,
  },
  { name: 'First byte', cell: ({ firstByteMs }) => ms(firstByteMs), isNumber: true },
  { name: 'p95', cell: ({ p95Ms }) => ms(p95Ms), isNumber: true },
  { name: 'Answers', cell: ({ samples }) => count(samples), isNumber: true, isExtra: true },
  { name: 'As of', cell: ({ asOf }) => (asOf === null ? null : <Moment at={asOf} />), isExtra: true },
]
