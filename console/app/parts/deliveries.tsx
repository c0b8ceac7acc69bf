/** Shows deliveries of webhook events. */
import { Link } from '@tanstack/react-router'
import type {
  WebhookAttemptError,
  WebhookDelivery,
  WebhookDeliveryError,
  WebhookDeliveryStatus,
} from '../../../generated/clients/typescript/models/platform.ts'
import { Badge, type Tone } from './badge.tsx'
import { count, words } from './formats.ts'
import { Moment } from './moment.tsx'
import { Private } from './redaction.tsx'
import { type Column, Table } from './table.tsx'

const tones: Record<WebhookDeliveryStatus, Tone> = {
  pending: 'calm',
  delivering: 'calm',
  succeeded: 'good',
  failed: 'alarm',
  expired: 'alarm',
  cancelled: 'plain',
}

export function DeliveryStatus({ status }: { status: WebhookDeliveryStatus }) {
  return (
    <Badge tone={tones[status]} isLive={status === 'delivering'}>
      {words(status)}
    </Badge>
  )
}

const reasons: Record<Exclude<WebhookDeliveryError, 'http_status'>, string> = {
  timeout: 'No answer in time',
  dns: 'The host has no address',
  connect: 'No connection to the host',
  tls: 'No secure connection to the host',
  address_blocked: 'The address is not public',
  redirect: 'The endpoint redirects',
  body_too_large: 'The answer is too large',
  deleted: 'The endpoint was deleted',
  disabled: 'The endpoint is disabled',
  superseded: 'A newer report replaces this one',
}

type Ended = { error: WebhookDeliveryError | WebhookAttemptError | null; httpStatus: number | null }

/** Returns the result in few words. The HTTP status says more than the error `http_status`. */
export function resultOf({ error, httpStatus }: Ended): string {
  if (error === 'http_status') return `Answered ${httpStatus}`
  if (error !== null) return reasons[error]
  return httpStatus === null ? '' : `Answered ${httpStatus}`
}

const columns: readonly Column<WebhookDelivery>[] = [
  { name: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { name: 'Event', cell: ({ event }) => <code>{event}</code> },
  { name: 'Status', cell: ({ status }) => <DeliveryStatus status={status} /> },
  { name: 'Result', cell: resultOf },
  { name: 'Endpoint', cell: ({ endpointName }) => <Private>{endpointName}</Private> },
  { name: 'Call', cell: (row) => (isTestEvent(row) ? 'test' : <DeliveredCall of={row} />), isExtra: true },
  { name: 'Attempts', cell: ({ attempts }) => count(attempts), isNumber: true },
]

export function DeliveriesTable({ rows, hides = [] }: { rows: readonly WebhookDelivery[]; hides?: readonly string[] }) {
  return (
    <Table
      label="Deliveries"
      columns={columns.filter(({ name }) => !hides.includes(name))}
      rows={rows}
      keyOf={({ id }) => id}
      to={({ id }) => `/deliveries/${id}`}
    />
  )
}

/** Test events and events before a call are sent once: their attempts end when they are created. */
export const isSentOnce = ({ expiresAt, createdAt }: Pick<WebhookDelivery, 'expiresAt' | 'createdAt'>) =>
  expiresAt === createdAt

/** Real events are repeated, except `call.pre_call`. So a test of `call.pre_call` cannot be recognized. */
export const isTestEvent = (row: Pick<WebhookDelivery, 'expiresAt' | 'createdAt' | 'event'>) =>
  isSentOnce(row) && row.event !== 'call.pre_call'

/** Shows the call's page, or only its id if the call is not stored. The last characters of ids differ most. */
export function DeliveredCall({
  of: { sessionId: id, sessionStored },
}: {
  of: Pick<WebhookDelivery, 'sessionId' | 'sessionStored'>
}) {
  if (id === null) return null
  const end = <code title={id}>…{id.slice(-8)}</code>
  if (!sessionStored) return end
  return (
    <Link to="/calls/$id" params={{ id }}>
      {end}
    </Link>
  )
}
