/** Reads calls with their turns, spans, report and transfers. */
import type { WholeCallStore } from '../../domain/calls/store.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Snapshots } from '../postgres/tenant.ts'
import { readSpans, readTurns } from './call-entries.ts'
import { originOf, readOrigin } from './call-origins.ts'
import { readCall } from './call-rows.ts'
import { readStoredReport } from './report-rows.ts'
import { readTransfers } from './transfers.ts'

export function createWholeCallStore(snapshots: Snapshots): WholeCallStore {
  return {
    find: async (tenant, id) => {
      if (!isUuid(id)) return null
      return snapshots.asTenantAtOnce(tenant, async (tx) => {
        const [record, origin, turns, spans, stored, transfers] = await Promise.all([
          readCall(tx, tenant, id),
          readOrigin(tx, tenant, id),
          readTurns(tx, tenant, id, -1),
          readSpans(tx, tenant, id),
          readStoredReport(tx, tenant, id),
          readTransfers(tx, tenant, id),
        ])
        return (
          record && {
            call: record.call,
            ...originOf(record.call, origin),
            turns,
            spans,
            report: stored?.report ?? null,
            transfers,
          }
        )
      })
    },
  }
}
