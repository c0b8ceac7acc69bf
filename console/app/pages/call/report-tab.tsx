import type { Call, CallReport } from '../../../../generated/clients/typescript/models/platform.ts'
import { useFinalizeReport } from '../../data/calls.ts'
import { Facts } from '../../parts/facts.tsx'
import { words } from '../../parts/formats.ts'
import { Private } from '../../parts/redaction.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Empty, Failed } from '../../parts/states.tsx'
import { useTimes } from '../../parts/times.tsx'
import styles from './report-tab.module.css'

export function ReportTab({ call: { id, report } }: { call: Call }) {
  if (report === null)
    return (
      <Empty title="The report comes when the call ends">
        <p>It has a summary, the outcome, the values to extract, and the costs.</p>
      </Empty>
    )
  return <Report id={id} report={report} />
}

function Report({ id, report }: { id: string; report: CallReport }) {
  const finalize = useFinalizeReport(id)
  const { moment } = useTimes()
  const { structured_data: found, scheduled_callback: callback } = report
  return (
    <>
      <p className={styles.summary}>
        <Private>{report.summary === '' ? 'The analysis is pending.' : report.summary}</Private>
      </p>
      <Facts
        rows={[
          ['Outcome', words(report.outcome)],
          ['Mood', found.sentiment ?? null],
          ['Resolved', found.resolved === undefined || found.resolved === null ? null : found.resolved ? 'yes' : 'no'],
          ['Analysis', analysisOf(report)],
          ['Callback', callback === null ? null : `${words(callback.status)}, ${moment(callback.scheduled_at)}`],
        ]}
      />
      <TextList title="Topics" texts={found.topics ?? []} />
      <TextList title="To do" texts={found.action_items ?? []} />
      {found.message && <TextList title="Message" texts={[found.message]} />}
      <Extracted values={report.custom_data} />
      {finalize.error && <Failed error={finalize.error} />}
      <RoleButton
        needs="finalizeCallReport"
        className={styles.again}
        disabled={finalize.isPending}
        onClick={() => finalize.mutate()}
      >
        {finalize.isPending ? 'Analysing…' : 'Analyse again'}
      </RoleButton>
      <RoleNote needs="finalizeCallReport" action="Analysing a call again" />
    </>
  )
}

function analysisOf({
  analysis_status: status,
  analysis_provider: provider,
  analysis_model: model,
  analysis_error: error,
}: CallReport): string {
  if (error !== null) return `${words(status)}: ${error}`
  return provider === null ? words(status) : `${provider}:${model ?? ''}`
}

function TextList({ title, texts }: { title: string; texts: readonly string[] }) {
  if (texts.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul className={styles.list}>
        {texts.map((text) => (
          <li key={text}>
            <Private>{text}</Private>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Extracted({ values }: { values: CallReport['custom_data'] }) {
  const rows = Object.entries(values)
  if (rows.length === 0) return null
  return (
    <section>
      <h3>Extracted values</h3>
      <Facts
        rows={rows.map(([name, value]) => [name, value === null ? '–' : <Private key={name}>{String(value)}</Private>])}
      />
    </section>
  )
}
