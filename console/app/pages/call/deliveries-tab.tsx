import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { WebhookAttempt, WebhookDelivery } from '../../../../generated/clients/typescript/models/platform.ts'
import { callDeliveriesQuery, deliveryQuery, useRedeliver } from '../../data/deliveries.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { milliseconds, moment, plural, words } from '../../parts/formats.ts'
import { Json } from '../../parts/json.tsx'
import { Answer, Empty, Failed } from '../../parts/states.tsx'
import styles from './deliveries-tab.module.css'

/** The events of this call that were sent to webhook endpoints. */
export function DeliveriesTab({ callId }: { callId: string }) {
  const answer = useQuery(callDeliveriesQuery(callId))
  return (
    <Answer of={answer}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No webhook got an event of this call">
            <p>An endpoint gets the events that it asks for, from the moment at which it exists.</p>
          </Empty>
        ) : (
          <ul className={styles.deliveries}>
            {data.map((delivery) => (
              <Delivery key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )
      }
    </Answer>
  )
}

const tones: Readonly<Record<string, Tone>> = { delivered: 'good', succeeded: 'good', failed: 'alarm', pending: 'warn' }

function Delivery({ delivery }: { delivery: WebhookDelivery }) {
  const [isOpen, setOpen] = useState(false)
  const redeliver = useRedeliver()
  const { id, event, endpointName, status, attempts, httpStatus, error, canRedeliver } = delivery
  return (
    <li className={styles.delivery}>
      <div className={styles.head}>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <b>{event}</b>
          <small>{`${endpointName} · ${plural(attempts, 'attempt')}${httpStatus === null ? '' : ` · HTTP ${httpStatus}`}`}</small>
        </button>
        <Badge tone={tones[status] ?? 'plain'}>{words(status)}</Badge>
        <Button isSmall disabled={!canRedeliver || redeliver.isPending} onClick={() => redeliver.mutate(id)}>
          Send again
        </Button>
      </div>
      {error !== null && <p className={styles.error}>{words(String(error))}</p>}
      {redeliver.error && <Failed error={redeliver.error} />}
      {isOpen && <Attempts id={id} />}
    </li>
  )
}

function Attempts({ id }: { id: string }) {
  return (
    <Answer of={useQuery(deliveryQuery(id))} rows={2}>
      {({ attempts, requestPayload }) => (
        <div className={styles.attempts}>
          <Json label="The event" text={JSON.stringify(requestPayload)} />
          {attempts.map((attempt) => (
            <Attempt key={attempt.id} attempt={attempt} />
          ))}
        </div>
      )}
    </Answer>
  )
}

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const { attemptNumber, trigger, createdAt, durationMs, responseStatus, responseBody, error } = attempt
  const answer = responseStatus === null ? words(String(error)) : `HTTP ${responseStatus}`
  return (
    <section>
      <h3>{`Attempt ${attemptNumber}: ${answer}`}</h3>
      <small>{`${trigger}, ${moment(createdAt)}, ${milliseconds(durationMs)}`}</small>
      {responseBody !== null && responseBody !== '' && (
        <Json label={`Answer to attempt ${attemptNumber}`} text={responseBody} />
      )}
    </section>
  )
}
