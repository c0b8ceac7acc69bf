/** Defines how long stored requests, calls and events are kept, and makes the loops to delete older rows. */
import type { Clock, Log } from '../domain/ports/system.ts'
import { retentionStartMs } from '../domain/records/retention.ts'
import type { Loop } from '../runtime/timing/loops.ts'
import { auditSweep } from './audit/audit-log.ts'
import { requestSweep } from './billing/request-retention.ts'
import { callSweep, eventSweep } from './calls/call-retention.ts'
import type { EventSource } from './calls/call-webhooks.ts'
import { messageTextSweep } from './messages/text-retention.ts'
import { runSweep, type Sweep } from './postgres/sweep.ts'
import type { Tenancy } from './postgres/tenant.ts'

/** How long each kind of record is kept. Null: for ever. */
export type Retention = {
  requestsDays: number | null
  callsDays: number | null
  eventsDays: number | null
  deliveriesDays: number | null
  messageTextsDays: number | null
  auditDays: number | null
}

export type RecordOptions = {
  clock: Clock
  log: Log
  retention: Retention
  /** Makes an id, a UUIDv7. */
  newId: () => string
  /** Makes the payloads for call events. Null if this process makes no events. */
  events: EventSource | null
}

const sweepEveryMs = 60_000

export type RetentionDeps = Pick<RecordOptions, 'clock' | 'log' | 'retention'> & {
  tenancy: Pick<Tenancy, 'asOperator'>
}

export function retentionLoops({ tenancy, clock, log, retention }: RetentionDeps): Loop[] {
  const { requestsDays, callsDays, eventsDays, messageTextsDays, auditDays } = retention
  const kinds: [days: number | null, sweepOf: (before: () => Date) => Sweep][] = [
    [requestsDays, requestSweep],
    [eventsDays, eventSweep],
    [callsDays, callSweep],
    [messageTextsDays, messageTextSweep],
    [auditDays, auditSweep],
  ]
  return kinds.flatMap(([days, sweepOf]) => {
    if (days === null) return []
    const sweep = sweepOf(() => new Date(retentionStartMs(clock.nowMs(), days)))
    const run = async () => {
      const deleted = await runSweep(tenancy, sweep)
      if (deleted > 0) log.info({ kind: sweep.kind, deleted, days }, 'records were deleted for their age')
    }
    return [{ name: `the end of ${sweep.kind}`, everyMs: sweepEveryMs, run }]
  })
}
