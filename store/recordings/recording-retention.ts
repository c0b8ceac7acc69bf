/** Finds expired recordings, and records their deletion in their calls' rows. */
import type { ExpiredRecordings } from '../../domain/calls/recording-retention.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'

export function createExpiredRecordings(tenancy: Pick<Tenancy, 'asOperator'>, clock: Clock): ExpiredRecordings {
  return {
    due: (beforeMs, limit) =>
      tenancy.asOperator(
        (tx) => tx<(Tenant & { id: string })[]>`
          select organization_id as "organizationId", test, id from calls
          where recording_status = 'ready' and ended_at < ${new Date(beforeMs)} order by ended_at limit ${limit}`,
      ),
    removed: (places) =>
      tenancy.asOperator(async (tx) => {
        const ids = arrayLiteral(places.map(({ id }) => id))
        await tx`
          update calls set recording_status = 'suppressed', recording_duration_ms = null,
            updated_at = ${new Date(clock.nowMs())}
          where id = any(${ids}::uuid[]) and recording_status = 'ready' and ended_at is not null`
        await tx`update call_facts set has_recording = false where id = any(${ids}::uuid[])`
      }),
    retainedAmong: (callIds, fromMs) =>
      tenancy.asOperator(async (tx) => {
        const rows = await tx<{ id: string }[]>`
          select id from calls where id = any(${arrayLiteral(callIds)}::uuid[])
            and (ended_at is null or ended_at >= ${new Date(fromMs)})`
        return new Set(rows.map(({ id }) => id))
      }),
  }
}
