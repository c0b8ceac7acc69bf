/** Seals and opens the secrets for a call's tools. They are removed when the call ends. */
import type { SecretsByTool } from '../../domain/agents/join-tools.ts'
import type { Call } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'
import type { SecretColumns } from './call-rows.ts'

export function sealOf(sealer: () => Sealer, call: Call, secrets: SecretsByTool): SecretColumns {
  if (Object.keys(secrets).length === 0) return { bytes: null, sealedBy: null }
  return sealer().seal(JSON.stringify(secrets), placeOf(call))
}

export function openedOf(sealer: () => Sealer, call: Call, { bytes, sealedBy }: SecretColumns): SecretsByTool {
  if (bytes === null) return {}
  return JSON.parse(sealer().open({ bytes, sealedBy }, placeOf(call))) as SecretsByTool
}

/** Names the row to which sealed secrets are bound. In another row they cannot be decrypted. */
function placeOf({ organizationId, test, id }: Tenant & { id: string }): string[] {
  return ['call', organizationId, test ? 'test' : 'live', id]
}

type SealedRow = Sealed & { organizationId: string; test: boolean; id: string }

/** Lets reseal.ts seal the calls' secrets again after a change of the master key. */
export const sealedCalls: SealedTable<SealedRow> = {
  table: 'calls',
  start: {
    organizationId: '',
    test: false,
    id: '00000000-0000-0000-0000-000000000000',
    bytes: Buffer.alloc(0),
    sealedBy: '',
  },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SealedRow[]>`
    select organization_id as "organizationId", test, id, sealed as bytes, sealed_by as "sealedBy" from calls
    where (organization_id, test, id) > (${after.organizationId}, ${after.test}, ${after.id})
      and sealed_by = any(${names}::text[])
    order by organization_id, test, id limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, test, id }, { bytes, sealedBy }) => tx`
    update calls set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and test = ${test} and id = ${id} and sealed is not null`,
}
