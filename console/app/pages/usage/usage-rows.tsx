import type { UsageRow, UsageTotal } from '../../../../generated/clients/typescript/models/platform.ts'
import { AgentName } from '../../parts/agent-name.tsx'
import { count, minutes, money, words } from '../../parts/formats.ts'
import { type Column, Table } from '../../parts/table.tsx'
import type { Group } from './filters.ts'
import styles from './usage-rows.module.css'

/** Lists the rows, the most expensive first. Days stay in their order. */
export function UsageRows({ rows, group, total }: { rows: readonly UsageRow[]; group: Group; total: UsageTotal }) {
  const most = Math.max(1, ...rows.map(costOf))
  const sorted = group === 'day' ? rows : rows.toSorted((a, b) => costOf(b) - costOf(a))
  const share = (row: UsageRow) => {
    const all = Number(total.costMicroUsd ?? 0)
    return all === 0 ? '' : `${((100 * costOf(row)) / all).toFixed(1)} %`
  }
  const columns: readonly Column<UsageRow>[] = [
    ...heads[group],
    { name: 'Requests', cell: ({ requests }) => countOrNone(requests), isNumber: true },
    { name: 'Answered legs', cell: ({ legs }) => countOrNone(legs), isNumber: true },
    { name: 'Failed', cell: ({ failed }) => (failed === 0 ? '' : count(failed)), isNumber: true, isExtra: true },
    { name: 'Used', cell: ({ quantities }) => quantitiesOf(quantities), isExtra: true },
    { name: 'Share', cell: share, isNumber: true },
    { name: 'Cost', cell: (row) => <Cost row={row} most={most} />, isNumber: true },
  ]
  return <Table label="Usage" columns={columns} rows={sorted} keyOf={keyOf} />
}

const countOrNone = (value: number) => (value === 0 ? '' : count(value))

const costOf = ({ costMicroUsd }: UsageRow) => Number(costMicroUsd ?? 0)

const keyOf = ({ day, keyId, agentId, provider, model, stage }: UsageRow) =>
  [day, keyId, agentId, provider, model, stage].join(' ')

const stageColumn: Column<UsageRow> = { name: 'Stage', cell: ({ stage }) => stage ?? 'none' }
const providerColumn: Column<UsageRow> = { name: 'Provider', cell: ({ provider }) => provider ?? 'none' }

const heads: Record<Group, readonly Column<UsageRow>[]> = {
  model: [{ name: 'Model', cell: ({ model }) => <strong>{model ?? 'none'}</strong> }, providerColumn, stageColumn],
  provider: [providerColumn],
  stage: [stageColumn],
  agent: [{ name: 'Agent', cell: ({ agentId }) => (agentId ? <AgentName id={agentId} /> : 'without an agent') }],
  key: [{ name: 'Key or number', cell: ({ keyId }) => <code>{keyId ?? 'none'}</code> }],
  day: [{ name: 'Day', cell: ({ day }) => day ?? '' }],
}

type Quantities = Readonly<Record<string, number>>

export const phoneTime = ({ carrier_seconds: seconds = 0 }: Quantities) => minutes(seconds / 60)

function quantitiesOf(quantities: Quantities): string {
  const texts = Object.entries(quantities).map(([unit, amount]) => {
    if (unit === 'audio_milliseconds') return `${minutes(amount / 60_000)} of audio`
    if (unit === 'carrier_seconds') return `${phoneTime(quantities)} on the phone`
    return `${count(amount)} ${words(unit)}`
  })
  return texts.join(', ')
}

/** Shows a row's cost as a bar, to compare rows at a glance, and as an exact number. */
function Cost({ row, most }: { row: UsageRow; most: number }) {
  return (
    <span className={styles.cost}>
      <meter className={styles.bar} min={0} max={most} value={costOf(row)} aria-hidden="true" />
      {row.costMicroUsd === null ? 'no price' : money(row.costMicroUsd)}
    </span>
  )
}
