import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { WebhookAttempt, WebhookDelivery } from '../../../../generated/clients/typescript/models/platform.ts'
import { callDeliveriesQuery, deliveryQuery, useSendAgain } from '../../data/deliveries.ts'
import { DeliveryStatus, resultOf } from '../../parts/deliveries.tsx'
import { milliseconds, plural } from '../../parts/formats.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer, Empty, Failed } from '../../parts/states.tsx'
import { useTimes } from '../../parts/times.tsx'
import styles from './deliveries-tab.module.css'

/** Lists the call's events that were sent to webhook endpoints. */
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
          <>
            <ul className={styles.deliveries}>
              {data.map((delivery) => (
                <Delivery key={delivery.id} delivery={delivery} />
              ))}
            </ul>
            <RoleNote needs="redeliverWebhook" action="Sending a delivery again" />
          </>
        )
      }
    </Answer>
  )
}

function Delivery({ delivery }: { delivery: WebhookDelivery }) {
  const [isOpen, setOpen] = useState(false)
  const { id, event, endpointName, status, attempts, error, canRedeliver } = delivery
  const again = useSendAgain(id)
  return (
    <li className={styles.delivery}>
      <div className={styles.head}>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <b>{event}</b>
          <small>{`${endpointName} · ${plural(attempts, 'attempt')}`}</small>
        </button>
        <DeliveryStatus status={status} />
        <RoleButton
          needs="redeliverWebhook"
          isSmall
          disabled={!canRedeliver || again.isPending}
          onClick={() => again.mutate()}
        >
          Send again
        </RoleButton>
      </div>
      {error !== null && <p className={styles.error}>{resultOf(delivery)}</p>}
      {again.error && <Failed error={again.error} />}
      {isOpen && <Attempts id={id} />}
    </li>
  )
}

function Attempts({ id }: { id: string }) {
  return (
    <Answer of={useQuery(deliveryQuery(id))} rows={2}>
      {({ attempts, requestPayload }) => (
        <div className={styles.attempts}>
          <JsonView label="The event" text={JSON.stringify(requestPayload)} />
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
  const { moment } = useTimes()
  return (
    <section>
      <h3>{`Attempt ${attemptNumber}: ${resultOf({ error, httpStatus: responseStatus })}`}</h3>
      <small>{`${trigger}, ${moment(createdAt)}, ${milliseconds(durationMs)}`}</small>
      {responseBody !== null && responseBody !== '' && (
        <JsonView label={`Answer to attempt ${attemptNumber}`} text={responseBody} />
      )}
    </section>
  )
}
