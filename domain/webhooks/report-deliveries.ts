/** How the report of a call has reached the endpoints that receive it. */
import type { Tenant } from '../records/organization.ts'
import type { DeliveryStatus } from '../records/webhook-delivery.ts'

export type ReportDelivery = {
  id: string
  eventId: string
  endpointId: string
  isDelivered: boolean
  httpStatus: number | null
  error: string | null
  createdAtMs: number
}

export type ReportDeliveries = {
  /** `delivered`: to every endpoint. `failed`: to one of them it is not sent any more. */
  status: 'not_configured' | 'pending' | 'delivered' | 'failed'
  /** Those of the newest version, over all endpoints. */
  attempts: number
  nextRetryAtMs: number | null
  deliveredAtMs: number | null
  error: string | null
  /** The endpoints that receive the report. */
  endpoints: number
  /** Those of all versions, the newest first. */
  deliveries: readonly ReportDelivery[]
}

/** A delivery of any version of the report of a call. */
export type StoredReportDelivery = ReportDelivery & {
  status: DeliveryStatus
  version: number
  attempts: number
  dueAtMs: number
  deliveredAtMs: number | null
}

export interface ReportDeliveryStore {
  /** The newest first, and the number of the endpoints that the end of the call has fixed. */
  ofReport(tenant: Tenant, callId: string): Promise<{ deliveries: readonly StoredReportDelivery[]; receivers: number }>
  /** Sends the newest version again to the endpoints to which it could not be delivered, from the beginning of the schedule. */
  retryReport(tenant: Tenant, callId: string): Promise<void>
}

/** The newest version counts. `isPending`: the report waits for its analysis. */
export function summarized(
  all: readonly StoredReportDelivery[],
  receivers: number,
  isPending: boolean,
): ReportDeliveries {
  const newest = Math.max(...all.map(({ version }) => version))
  const counted = all.filter(({ version }) => version === newest)
  const open = counted.filter(({ status }) => status === 'pending' || status === 'delivering')
  const undelivered = counted.filter(({ isDelivered }) => !isDelivered)
  return {
    status: counted.length === 0 ? unsent(receivers, isPending) : statusOf(open.length, undelivered.length),
    attempts: counted.reduce((sum, { attempts }) => sum + attempts, 0),
    nextRetryAtMs: least(open.map(({ dueAtMs }) => dueAtMs)),
    deliveredAtMs: undelivered.length > 0 ? null : greatest(counted.flatMap((each) => each.deliveredAtMs ?? [])),
    error: undelivered.find(({ error }) => error !== null)?.error ?? null,
    endpoints: Math.max(receivers, counted.length),
    deliveries: all.map(({ id, eventId, endpointId, isDelivered, httpStatus, error, createdAtMs }) => {
      return { id, eventId, endpointId, isDelivered, httpStatus, error, createdAtMs }
    }),
  }
}

/** Endpoints that were deleted or disabled before the report was made get none. */
function unsent(receivers: number, isPending: boolean): ReportDeliveries['status'] {
  if (receivers === 0) return 'not_configured'
  return isPending ? 'pending' : 'failed'
}

function statusOf(open: number, undelivered: number): ReportDeliveries['status'] {
  if (open > 0) return 'pending'
  return undelivered === 0 ? 'delivered' : 'failed'
}

const least = (times: readonly number[]) => (times.length === 0 ? null : Math.min(...times))
const greatest = (times: readonly number[]) => (times.length === 0 ? null : Math.max(...times))
