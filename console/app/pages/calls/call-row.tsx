import { Link } from '@tanstack/react-router'
import {
  ArrowLeftRight,
  Globe,
  MessageSquare,
  PhoneIncoming,
  PhoneOutgoing,
  Scissors,
  TriangleAlert,
} from 'lucide-react'
import { memo } from 'react'
import type { CallKind, CallOverview } from '../../../../generated/clients/typescript/models/platform.ts'
import { Badge } from '../../parts/badge.tsx'
import { classes } from '../../parts/classes.ts'
import { Elapsed } from '../../parts/elapsed.tsx'
import { clockTime, milliseconds, words } from '../../parts/formats.ts'
import { Private } from '../../parts/redaction.tsx'
import { slowMs, toneOfOutcome, toneOfStatus } from '../../parts/statuses.ts'
import { useTimes } from '../../parts/times.tsx'
import styles from './calls-list.module.css'

type RowProps = {
  call: CallOverview
  index: number
  top: number
  isActive: boolean
  /** How often the call has changed while the list was open. */
  changes: number
  /** Whether the row leads to the slowest turn of the call. */
  toSlowest: boolean
  onFocus: (index: number) => void
}

/**
 * Shows one call. Its props stay equal while the list scrolls, so React skips the row: this keeps 60 frames a second.
 */
export const CallRow = memo(function CallRow({ call, index, top, isActive, changes, toSlowest, onFocus }: RowProps) {
  const { day, timeOfDay } = useTimes()
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes(styles.row, isActive && styles.active)}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="cell" className={styles.time}>
        <Link
          to="/calls/$id"
          params={{ id: call.id }}
          search={toSlowest && call.slowest_turn !== null ? { turn: String(call.slowest_turn.index) } : {}}
          className={styles.link}
          data-row={index}
          onFocus={() => onFocus(index)}
        >
          <time dateTime={call.created_at}>
            {day(call.created_at)} <b>{timeOfDay(call.created_at)}</b>
          </time>
        </Link>
      </span>
      <span role="cell" className={styles.who}>
        <Parties call={call} />
      </span>
      <span role="cell" className={styles.agent}>
        {call.agent_name ?? '–'}
      </span>
      <span role="cell" className={styles.state}>
        <State call={call} />
      </span>
      <span role="cell" className={styles.length}>
        <Length call={call} />
      </span>
      <span role="cell" className={classes(styles.latency, isSlow(call) && styles.slow)}>
        {call.latency_ms === null ? '' : milliseconds(call.latency_ms.max)}
      </span>
      <span role="cell" className={styles.marks}>
        <Marks call={call} />
      </span>
      {call.matches && <Matches call={call} />}
      {changes > 0 && <span key={changes} aria-hidden="true" className={styles.flash} />}
    </div>
  )
})

const isSlow = ({ latency_ms: latency }: CallOverview) => latency !== null && latency.max >= slowMs

const kindIcons: Record<CallKind, typeof Globe> = {
  browser: Globe,
  inbound: PhoneIncoming,
  outbound: PhoneOutgoing,
  rmsg: MessageSquare,
}

function Parties({ call: { kind, from, to } }: { call: CallOverview }) {
  const Icon = kindIcons[kind]
  const other = kind === 'inbound' ? (from ?? 'withheld') : to
  return (
    <>
      <Icon aria-label={words(kind)} role="img" />
      {other === null ? 'Browser' : <Private>{other}</Private>}
    </>
  )
}

function Length({
  call: { duration_seconds: seconds, started_at: startedAt, ended_at: endedAt },
}: {
  call: CallOverview
}) {
  if (endedAt === null) return startedAt === null ? null : <Elapsed since={startedAt} />
  return seconds === null ? null : clockTime(seconds)
}

/** A live call shows its status, and an ended call its outcome. */
function State({ call: { status, outcome, ended_at: endedAt } }: { call: CallOverview }) {
  if (endedAt === null)
    return (
      <Badge tone={toneOfStatus(status)} isLive>
        {words(status)}
      </Badge>
    )
  if (outcome === null || status !== 'completed') return <Badge tone={toneOfStatus(status)}>{words(status)}</Badge>
  return <Badge tone={toneOfOutcome(outcome)}>{words(outcome)}</Badge>
}

function Marks({ call }: { call: CallOverview }) {
  return (
    <>
      {call.tool_failures > 0 && <Mark icon={TriangleAlert} text={`${call.tool_failures} failed tool calls`} isAlarm />}
      {call.interruptions > 0 && <Mark icon={Scissors} text={`${call.interruptions} interruptions`} />}
      {call.transfers > 0 && <Mark icon={ArrowLeftRight} text={`${call.transfers} transfers`} />}
    </>
  )
}

function Mark({ icon: Icon, text, isAlarm = false }: { icon: typeof Globe; text: string; isAlarm?: boolean }) {
  return (
    <span title={text} className={isAlarm ? styles.alarm : undefined}>
      <Icon role="img" aria-label={text} />
    </span>
  )
}

/** Shows the first turn with the words of the search. */
function Matches({ call: { matches = [] } }: { call: CallOverview }) {
  const [first] = matches
  if (!first) return null
  return (
    <span role="cell" className={styles.match}>
      “<Private>{first.text}</Private>”
    </span>
  )
}
