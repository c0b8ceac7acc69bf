import { Link } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import type { CallToolCall, CallTurn } from '../../../../generated/clients/typescript/models/platform.ts'
import { usePathId } from '../../parts/address.ts'
import buttonStyles from '../../parts/button.module.css'
import { classes } from '../../parts/classes.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { milliseconds } from '../../parts/formats.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Address } from './address.ts'
import type { Part, Timeline } from './timeline.ts'
import styles from './turn-tab.module.css'
import { Waterfall } from './waterfall.tsx'

type TurnTabProps = { timeline: Timeline; address: Address; change: (change: Partial<Address>) => void }

/** Shows where the time before an answer went. */
export function TurnTab({ timeline, address, change }: TurnTabProps) {
  const line = timeline.lines.find(({ turn }) => turn.index === address.turn)
  if (!line)
    return (
      <Empty title="No turn is selected">
        <p>Choose the bar below an answer, or press j.</p>
      </Empty>
    )
  const { turn, silence } = line
  const part = silence?.parts.find(({ id }) => id === address.span)
  return (
    <>
      <header className={styles.header}>
        <h2>{`Turn ${turn.index}`}</h2>
        <CopyButton text={linkTo(turn.index)} label="Copy the address of this turn" />
      </header>
      <TurnFacts turn={turn} />
      {turn.source !== 'system' && <ReplayLink turn={turn} />}
      {silence && <Waterfall silence={silence} selected={address.span} select={(id) => change({ span: id })} />}
      {part && <PartFacts part={part} />}
      {turn.tool_calls.map((tool) => (
        <Tool key={tool.id} tool={tool} />
      ))}
    </>
  )
}

function ReplayLink({ turn: { index, source } }: { turn: CallTurn }) {
  return (
    <Link
      to="/calls/$id"
      params={{ id: usePathId() }}
      search={{ turn: String(index), replay: source === 'user' ? 'stt' : 'llm' }}
      className={classes(buttonStyles.button, styles.replay)}
    >
      <RotateCcw aria-hidden="true" />
      Replay with other models
    </Link>
  )
}

function Tool({ tool }: { tool: CallToolCall }) {
  const { name, args, status, result, http_status: httpStatus, duration_ms: durationMs, attempts } = tool
  return (
    <section className={styles.tool}>
      <h3>{name}</h3>
      <Facts
        rows={[
          ['State', status],
          ['Took', durationMs === null ? null : milliseconds(durationMs)],
          ['HTTP', httpStatus],
          ['Attempts', attempts],
        ]}
      />
      <h4>Arguments</h4>
      <JsonView label={`Arguments of ${name}`} text={args} />
      {result !== null && <h4>Result</h4>}
      {result !== null && <JsonView label={`Result of ${name}`} text={result} />}
    </section>
  )
}

function linkTo(turn: number): string {
  return `${window.location.origin}${window.location.pathname}?turn=${turn}`
}

function TurnFacts({ turn }: { turn: CallTurn }) {
  const ms = (value: number | null) => (value === null ? null : milliseconds(value))
  return (
    <Facts
      rows={[
        ['Model', turn.provider === null ? null : `${turn.provider}:${turn.model ?? ''}`],
        ['Silence', ms(turn.conversational_latency_ms)],
        ['End of turn', ms(turn.eou_ms)],
        ['First token', ms(turn.llm_ttft_ms)],
        ['First audio', ms(turn.tts_ttfb_ms)],
        ['Measured', turn.latency_status],
      ]}
    />
  )
}

/** Shows all stored values of the selected step. */
function PartFacts({ part: { kind, span } }: { part: Part }) {
  return (
    <section>
      <h3>{kind}</h3>
      <JsonView label={`The step ${kind}`} text={JSON.stringify(span.attributes)} />
    </section>
  )
}
