/** Summarizes the deliveries of a call's report to webhook endpoints. */
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
  /**
   * `delivered`: every endpoint has received the report. `failed`: no more attempts follow, and at least one endpoint
   * has not received the report.
   */
  status: 'not_configured' | 'pending' | 'delivered' | 'failed'
  /** Counts attempts for the newest version, over all endpoints. */
  attempts: number
  nextRetryAtMs: number | null
  deliveredAtMs: number | null
  error: string | null
  /** The number of endpoints that receive the report. */
  endpoints: number
  /** Deliveries for all versions, newest first. */
  deliveries: readonly ReportDelivery[]
}

/** A delivery of the call's report, in any version. */
export type StoredReportDelivery = ReportDelivery & {
  status: DeliveryStatus
  version: number
  attempts: number
  dueAtMs: number
  deliveredAtMs: number | null
}

export interface ReportDeliveryStore {
  /** Returns the report's deliveries, newest first. `receivers` counts the endpoints chosen at the call's end. */
  ofReport(tenant: Tenant, callId: string): Promise<{ deliveries: readonly StoredReportDelivery[]; receivers: number }>
  /** Sends the newest version again to endpoints that have not received it, with a new schedule. */
  retryReport(tenant: Tenant, callId: string): Promise<void>
}

/** Summarizes the newest version's deliveries. `isPending` is true if the report waits for its analysis. */
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

/**
 * Returns the status if there are no deliveries. Endpoints that were deleted or disabled before the report get no
 * delivery.
 */
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
