import { Link } from '@tanstack/react-router'
import type { CallOverview } from '../../../../generated/clients/typescript/models/platform.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { clockTime, milliseconds, words } from '../../parts/formats.ts'
import { Private } from '../../parts/redaction.tsx'
import { slowMs, toneOfOutcome, toneOfStatus } from '../../parts/statuses.ts'
import { useTimes } from '../../parts/times.tsx'
import styles from './recent-calls.module.css'

/** Shows nothing if there are no calls. */
export function RecentCalls({ title, calls }: { title: string; calls: readonly CallOverview[] }) {
  const { moment } = useTimes()
  if (calls.length === 0) return null
  return (
    <Card title={title} actions={<Link to="/calls">All calls</Link>}>
      <ul className={styles.calls}>
        {calls.map((call) => (
          <li key={call.id}>
            <Link to="/calls/$id" params={{ id: call.id }} className={styles.call}>
              <span className={styles.time}>{moment(call.created_at)}</span>
              <span className={styles.who}>
                <Private>{otherParty(call)}</Private>
              </span>
              <span className={styles.slowest} data-slow={(call.latency_ms?.max ?? 0) >= slowMs}>
                {call.latency_ms === null ? '' : milliseconds(call.latency_ms.max)}
              </span>
              <span className={styles.length}>
                {call.duration_seconds === null ? '' : clockTime(call.duration_seconds)}
              </span>
              <State call={call} />
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const otherParty = ({ kind, from, to }: CallOverview) => (kind === 'inbound' ? from : to) ?? 'Browser'

function State({ call: { status, outcome, ended_at: endedAt } }: { call: CallOverview }) {
  if (endedAt !== null && outcome !== null) return <Badge tone={toneOfOutcome(outcome)}>{words(outcome)}</Badge>
  return (
    <Badge tone={toneOfStatus(status)} isLive={endedAt === null}>
      {words(status)}
    </Badge>
  )
}
