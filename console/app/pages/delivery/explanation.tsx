import type {
  WebhookAttemptResult,
  WebhookDeliveryDetail,
  WebhookDeliveryError,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { isSentOnce, isTestEvent, resultOf } from '../../parts/deliveries.tsx'
import { milliseconds, plural } from '../../parts/formats.ts'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'

type Props = { delivery: WebhookDeliveryDetail; sent: WebhookAttemptResult | undefined }

/** Says in a sentence what happened to the delivery, and what a person can do. */
export function Explanation({ delivery, sent }: Props) {
  const { status, error, attempts, attemptCount, canRedeliver, deliveredAt } = delivery
  if (sent && !sent.delivered)
    return (
      <Notice tone="alarm" title={`Sent again, and it failed: ${resultOf(sent)}`}>
        <p>{adviceOf(sent.error, sent.httpStatus)}</p>
      </Notice>
    )
  if (status === 'succeeded')
    return (
      <Notice tone="good" title={sent ? 'Sent again, and accepted' : 'Accepted by the endpoint'}>
        <p>
          {deliveredAt && <Moment at={deliveredAt} />}, after {plural(attemptCount, 'attempt')}
          {lastDuration(attempts)}.
        </p>
      </Notice>
    )
  if (error === null)
    return (
      <Notice tone="calm" title="The first attempt comes next">
        <p>This page follows the delivery.</p>
      </Notice>
    )
  const isOver = status === 'failed' || status === 'expired'
  return (
    <Notice tone={status === 'cancelled' ? 'warn' : 'alarm'} title={resultOf(delivery)}>
      <p>{adviceOf(error, delivery.httpStatus)}</p>
      <p>
        {isOver && `${endOf(delivery)} `}
        {status === 'pending' && 'The next attempt is planned. '}
        {canRedeliver && '“Send again” sends the same bytes with the same event id.'}
      </p>
    </Notice>
  )
}

function endOf(delivery: WebhookDeliveryDetail): string {
  if (isTestEvent(delivery)) return 'A test event is sent once.'
  if (isSentOnce(delivery)) return 'An event before a call is sent once.'
  return `No attempt is planned after ${plural(delivery.attemptCount, 'attempt')}.`
}

function lastDuration(attempts: WebhookDeliveryDetail['attempts']): string {
  const last = attempts.at(-1)
  return last ? `; the last took ${milliseconds(last.durationMs)}` : ''
}

const advice: Record<Exclude<WebhookDeliveryError, 'http_status'>, string> = {
  timeout: 'The endpoint must answer within its time limit. Answer first, and do the work afterwards.',
  dns: 'The host of the URL is not known. Check the spelling, and the zone of the host.',
  connect: 'The host refused the connection, or no program listens there. Check that the receiver runs.',
  tls: 'The certificate was not accepted. It must be valid for the host, with its whole chain.',
  address_blocked: 'Events go to public addresses only. The operator can allow networks of this machine.',
  redirect: 'Redirects are not followed. Register the address that the endpoint redirects to.',
  body_too_large: 'Answers may have 65,536 bytes. A short answer is enough.',
  deleted: 'Deliveries to a deleted endpoint are not sent.',
  disabled: 'Enable the endpoint, and send the delivery again.',
  superseded: 'The call has a newer report, which was sent instead.',
}

function adviceOf(error: WebhookDeliveryError | null, httpStatus: number | null): string {
  if (error === null) return ''
  if (error !== 'http_status') return advice[error]
  if (httpStatus === 401 || httpStatus === 403)
    return 'The endpoint refused the request. Check its signature check and its auth headers.'
  if (httpStatus === 404 || httpStatus === 405) return 'The path or the method is not served there. Check the URL.'
  if (httpStatus === 410) return 'The endpoint says that it is gone for good, so it was disabled.'
  if (httpStatus !== null && httpStatus >= 500)
    return 'The receiver has an error. Its answer is below, and its log has more.'
  return 'Only a status from 200 to 299 counts as accepted.'
}
