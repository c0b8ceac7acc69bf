import type { WebhookAttempt } from '../../../../generated/clients/typescript/models/platform.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { resultOf } from '../../parts/deliveries.tsx'
import { milliseconds } from '../../parts/formats.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Moment } from '../../parts/moment.tsx'
import { useMask } from '../../parts/redaction.tsx'
import styles from './attempts.module.css'

/** Shows each attempt with its request and its answer, the newest first. The newest attempt is open. */
export function Attempts({ attempts }: { attempts: readonly WebhookAttempt[] }) {
  if (attempts.length === 0) return null
  return (
    <Card title="Attempts" isFlush>
      <div className={styles.list}>
        {attempts.toReversed().map((attempt, at) => (
          <Attempt key={attempt.id} attempt={attempt} isFirst={at === 0} />
        ))}
      </div>
    </Card>
  )
}

function Attempt({ attempt, isFirst }: { attempt: WebhookAttempt; isFirst: boolean }) {
  const { attemptNumber, trigger, responseStatus, durationMs, error, createdAt } = attempt
  return (
    <details className={styles.attempt} open={isFirst}>
      <summary>
        <Badge tone={error === null ? 'good' : 'alarm'}>{responseStatus ?? 'failed'}</Badge>
        <strong>
          Attempt {attemptNumber}: {resultOf({ error, httpStatus: responseStatus })}
        </strong>
        <span className={styles.meta}>
          {trigger === 'manual' && 'by a person, '}
          {milliseconds(durationMs)}, <Moment at={createdAt} />
        </span>
      </summary>
      <div className={styles.exchange}>
        <Response attempt={attempt} />
        <Request attempt={attempt} />
      </div>
    </details>
  )
}

function Request({ attempt: { requestUrl, requestHeaders } }: { attempt: WebhookAttempt }) {
  const mask = useMask()
  return (
    <section>
      <h3>Request</h3>
      <p className={styles.url}>
        <code>POST {mask(requestUrl)}</code>
      </p>
      <dl className={styles.headers}>
        {Object.entries(requestHeaders).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Response({ attempt: { responseStatus, responseBody, responseTruncated } }: { attempt: WebhookAttempt }) {
  return (
    <section>
      <h3>Answer{responseStatus === null ? '' : ` ${responseStatus}`}</h3>
      {responseBody === null && <p className={styles.meta}>The endpoint did not answer.</p>}
      {responseBody === '' && <p className={styles.meta}>The answer has no body.</p>}
      {responseBody !== null && responseBody !== '' && <JsonView text={responseBody} label="Body of the answer" />}
      {responseTruncated && <p className={styles.meta}>Only the first 4,096 bytes of the answer are kept.</p>}
    </section>
  )
}
