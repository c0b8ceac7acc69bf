/** Finds pending uploads of recordings, and records their results in their calls' rows. */
import type { UploadStore } from '../../domain/calls/recording-uploads.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { ofCall } from '../calls/call-rows.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

/** The maximum number of uploads from one query. The next query finds further uploads. */
const dueMax = 1000

export type UploadStoreDeps = { worlds: Worlds & Pick<Tenancy, 'asOperator'>; clock: Clock; instanceId: string }

export function createUploadStore({ worlds, clock, instanceId }: UploadStoreDeps): UploadStore {
  return {
    due: () =>
      worlds.asOperator(async (tx) => {
        const rows = await tx<(Tenant & { id: string; endedAt: Date; ownerId: string | null })[]>`
          select organization_id as "organizationId", test, id, ended_at as "endedAt", owner_id as "ownerId" from calls
          where recording_status = 'uploading' and ended_at is not null and (owner_id = ${instanceId} or not exists (
            select from instances i where i.id = owner_id and i.alive_until > ${new Date(clock.nowMs())}))
          order by (owner_id = ${instanceId}) desc nulls last, ended_at limit ${dueMax}`
        return rows.map(({ endedAt, ...row }) => {
          return { ...row, endedAtMs: endedAt.getTime(), isOwn: row.ownerId === instanceId }
        })
      }),
    takeOver: (upload) =>
      worlds.asTenant(upload, async (tx) => {
        const { count } = await tx`
          update calls set owner_id = ${instanceId} ${ofCall(tx, upload, upload.id)}
            and recording_status = 'uploading' and owner_id is not distinct from ${upload.ownerId}`
        return count > 0
      }),
  }
}
