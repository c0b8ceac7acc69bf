import type { Call, CallEvent } from '../../../../generated/clients/typescript/models/platform.ts'
import { classes } from '../../parts/classes.ts'
import { Private } from '../../parts/redaction.tsx'
import { useTimes } from '../../parts/times.tsx'
import styles from './events-tab.module.css'
import { originOf } from './timeline.ts'

type EventsTabProps = { call: Call; events: readonly CallEvent[]; seek: (seconds: number) => void }

export function EventsTab({ call, events, seek }: EventsTabProps) {
  const originMs = originOf(call)
  const { timeOfDay } = useTimes()
  return (
    <ol className={styles.events} aria-label="Events">
      {events.map((event) => (
        <li key={event.id} className={classes(styles.event, event.failure_cause !== null && styles.failed)}>
          <button type="button" onClick={() => seek((Date.parse(event.occurred_at) - originMs) / 1000)}>
            {timeOfDay(event.occurred_at)}
          </button>
          <div>
            <b>{event.event_type}</b> <small>{event.provider}</small>
            {detailOf(event) !== '' && (
              <p>
                <Private>{detailOf(event)}</Private>
              </p>
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}

function detailOf({ failure_cause: cause, sip_status_code: code, sip_status: status, payload }: CallEvent): string {
  const facts = Object.entries(payload).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const sip = code === null ? [] : [`SIP ${code} ${status ?? ''}`]
  return [...(cause === null ? [] : [cause]), ...sip, ...facts].join(' · ')
}
