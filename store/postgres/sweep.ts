/** Deletes rows for their age: in small batches, each a transaction of the operator, and in one process at a time. */
import type { Tx } from './connect.ts'
import type { Tenancy } from './tenant.ts'

/** Numbers that nothing else in the database takes as advisory locks. */
const locks = { requests: 7_275_539_010, calls: 7_275_539_011, events: 7_275_539_012 }

export type Sweep = {
  kind: keyof typeof locks
  /** The most that `deleteSome` deletes at a time. */
  rowsMax: number
  /** Resolves with how many were due and are deleted: fewer than `rowsMax` when no more are due. */
  deleteSome: (tx: Tx) => Promise<number>
}

/** Batches of one run. The next run goes on with the rest. */
const batchesMax = 50

/** Resolves with how many were deleted. A batch of another process that is under way ends the run. */
export async function runSweep(tenancy: Pick<Tenancy, 'asOperator'>, sweep: Sweep): Promise<number> {
  let total = 0
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const count = await tenancy.asOperator(async (tx) => {
      const [row] = await tx<{ isOurs: boolean }[]>`select pg_try_advisory_xact_lock(${locks[sweep.kind]}) as "isOurs"`
      return row?.isOurs ? sweep.deleteSome(tx) : 0
    })
    total += count
    if (count < sweep.rowsMax) break
  }
  return total
}
