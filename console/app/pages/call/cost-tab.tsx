import type { Call, CostLine } from '../../../../generated/clients/typescript/models/platform.ts'
import { count, money, words } from '../../parts/formats.ts'
import { Empty } from '../../parts/states.tsx'
import styles from './cost-tab.module.css'

export function CostTab({ call: { report } }: { call: Call }) {
  if (report === null) return <Empty title="The costs are known when the call ends" />
  return (
    <table className={styles.costs}>
      <caption>Costs by line</caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Quantity</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {report.cost_breakdown.map((line) => (
          <Line key={JSON.stringify(line)} line={line} />
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={2}>
            {report.cost_complete ? 'Total' : 'Total of the known costs'}
          </th>
          <td data-cost={report.cost_micro_usd}>{money(report.cost_micro_usd)}</td>
        </tr>
      </tfoot>
    </table>
  )
}

function Line({ line }: { line: CostLine }) {
  const { stage, provider, model, leg, quantity, metric, keySource, costMicroUsd, priceSource } = line
  return (
    <tr>
      <td>
        {stage}
        <small>
          {`${provider}:${model}`}
          {leg && `, ${leg}`}
          {keySource === 'BYOK' && ', own key'}
        </small>
      </td>
      <td>
        {count(quantity)}
        <small>{words(metric)}</small>
      </td>
      <td title={priceSource ?? 'The price is not known'}>{costMicroUsd === null ? 'unknown' : money(costMicroUsd)}</td>
    </tr>
  )
}
