import type { Benchmark, ModelRow, Price } from '../../../../generated/clients/typescript/models/router.ts'
import { count, money, words } from '../../parts/formats.ts'
import { Faint } from '../../parts/layout.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import styles from './ranking.module.css'

export function Ranking({ models }: { models: readonly ModelRow[] }) {
  return <Table label="Ranking" columns={columns} rows={models} keyOf={({ pin }) => pin} />
}

const columns: readonly Column<ModelRow>[] = [
  { name: 'Rank', cell: ({ rank }) => count(rank), isNumber: true },
  {
    name: 'Model',
    cell: ({ id, provider }) => (
      <>
        <strong>{id}</strong> <Faint>{provider}</Faint>
      </>
    ),
  },
  { name: 'Score', cell: ({ score }) => (score === null ? <Faint>unknown</Faint> : score.toFixed(3)), isNumber: true },
  { name: 'Figures', cell: ({ benchmarks }) => <Figures of={benchmarks} /> },
  { name: 'Price', cell: ({ price }) => <Prices of={price} /> },
]

function Figures({ of }: { of: readonly Benchmark[] }) {
  if (of.length === 0) return <Faint>none known</Faint>
  return (
    <ul className={styles.figures}>
      {of.map((figure) => (
        <li key={`${figure.metric} ${figure.source} ${figure.language}`}>
          {`${words(figure.metric)}: ${figure.value === null ? 'not measured' : `${count(figure.value)} ${figure.unit}`}`}{' '}
          <Source of={figure} />
        </li>
      ))}
    </ul>
  )
}

function Prices({ of }: { of: readonly Price[] }) {
  if (of.length === 0) return <Faint>unknown</Faint>
  return (
    <ul className={styles.figures}>
      {of.map((price) => (
        <li key={`${price.unit} ${price.path ?? ''} ${price.source}`}>
          {`${words(price.unit)}: ${price.micro_usd === null ? 'unknown' : money(String(price.micro_usd))}`}{' '}
          <Source of={price} />
        </li>
      ))}
    </ul>
  )
}

/** A source that sells the model, or a competing model, is marked. */
function Source({ of }: { of: Pick<Benchmark, 'source' | 'source_url' | 'as_of' | 'interested'> }) {
  const { source, source_url: address, as_of: asOf, interested = false } = of
  return (
    <Faint>
      {address === undefined ? (
        words(source)
      ) : (
        <a href={address} rel="noreferrer">
          {words(source)}
        </a>
      )}
      {`, ${asOf}${interested ? ', sells models' : ''}`}
    </Faint>
  )
}
