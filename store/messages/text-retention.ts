import type { Sweep } from '../postgres/sweep.ts'

const rowsMax = 1_000

/** Deletes the texts of old messages. The messages stay. */
export function messageTextSweep(before: () => Date): Sweep {
  return {
    kind: 'message texts',
    rowsMax,
    deleteSome: async (tx) => {
      const { count } = await tx`
        update rmsg_messages set text = null where (organization_id, test, id) in (
          select organization_id, test, id from rmsg_messages where created_at < ${before()} and text is not null
          order by created_at limit ${rowsMax})`
      return count
    },
  }
}
