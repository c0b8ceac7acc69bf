/**
 * Stores the protocol data to hang up a leg after its process has died. The adapter of a carrier or trunk (a line)
 * writes the data. It does not know the organizations, so each statement runs with the operator's access.
 */
import { dialogBytesMax, type LegDialogs } from '../../domain/ports/leg-dialogs.ts'
import type { LineName } from '../../domain/ports/phone-line.ts'
import { storable } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'

export function createLegDialogs({ asOperator }: Pick<Tenancy, 'asOperator'>, line: LineName): LegDialogs {
  return {
    async keep({ legId, carrierLegId }, dialog) {
      const text = storable(dialog)
      if (Buffer.byteLength(text) > dialogBytesMax) throw new Error(`a dialog has more than ${dialogBytesMax} bytes`)
      await asOperator(async (tx) => {
        await tx`
          update call_legs set carrier_leg_id = ${carrierLegId}, dialog = ${text}::text::json
          where line = ${line} and ended_at is null
            and (carrier_leg_id = ${carrierLegId} or (id = ${legId} and carrier_leg_id is null))`
      })
    },
    find: (carrierLegId) =>
      asOperator(async (tx) => {
        const [row] = await tx<{ dialog: string | null }[]>`
          select dialog::text as dialog from call_legs where line = ${line} and carrier_leg_id = ${carrierLegId}`
        return row?.dialog ?? null
      }),
  }
}
