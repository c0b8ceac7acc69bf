/** Deletes old rows in small batches, each in an operator's transaction, and in one process at a time. */
import { locks } from './advisory-locks.ts'
import type { Tx } from './connect.ts'
import type { Tenancy } from './tenant.ts'

const lockOf = {
  requests: locks.sweepRequests,
  calls: locks.sweepCalls,
  events: locks.sweepEvents,
  'message texts': locks.sweepMessageTexts,
  'audit events': locks.sweepAudit,
}

export type Sweep = {
  kind: keyof typeof lockOf
  /** The limit for rows in one `deleteSome`. */
  rowsMax: number
  /** Resolves with the number of deleted rows. It is less than `rowsMax` if no more rows are due. */
  deleteSome: (tx: Tx) => Promise<number>
}

/** The limit for batches in one run. The next run continues. */
const batchesMax = 50

/** Runs a sweep and resolves with the number of deleted rows. If another process is deleting a batch, the run ends. */
export async function runSweep(tenancy: Pick<Tenancy, 'asOperator'>, sweep: Sweep): Promise<number> {
  let total = 0
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const count = await tenancy.asOperator(async (tx) => {
      const [row] = await tx<{ isOurs: boolean }[]>`select pg_try_advisory_xact_lock(${lockOf[sweep.kind]}) as "isOurs"`
      return row?.isOurs ? sweep.deleteSome(tx) : 0
    })
    total += count
    if (count < sweep.rowsMax) break
  }
  return total
}
