/** The phone numbers of organizations, as they are administered. Every statement names the organization and the world. */
import type { PhoneNumber, PhoneNumberStore } from '../domain/numbers/phone-number.ts'
import type { Tx } from './connect.ts'
import { hasAgent, isNumberId, ofNumber, ofTenant, readNumbers } from './number-rows.ts'
import { storable } from './row-values.ts'
import type { Worlds } from './tenant.ts'

export function createNumberStore(worlds: Worlds): PhoneNumberStore {
  return {
    list: (tenant, limit) =>
      worlds.asTenant(tenant, (tx) =>
        readNumbers(tx, tx`${ofTenant(tx, tenant)} order by created_at, id limit ${limit}`),
      ),
    find: async (tenant, id) => {
      if (!isNumberId(id)) return null
      return worlds.asTenant(tenant, async (tx) => (await readNumbers(tx, ofNumber(tx, tenant, id)))[0] ?? null)
    },
    change: async (tenant, id, change) => {
      if (!isNumberId(id)) return null
      return worlds.asTenant(tenant, async (tx) => {
        const [number] = await readNumbers(tx, tx`${ofNumber(tx, tenant, id)} for update`)
        if (number === undefined) return null
        const changed = change(number)
        if (changed.agentId !== number.agentId && !(await hasAgent(tx, tenant, changed.agentId))) return 'agent_unknown'
        await update(tx, changed)
        return (await readNumbers(tx, ofNumber(tx, tenant, id)))[0] ?? null
      })
    },
    remove: (tenant, id) =>
      worlds.asTenant(tenant, async (tx) => void (await tx`delete from phone_numbers ${ofNumber(tx, tenant, id)}`)),
  }
}

async function update(tx: Tx, number: PhoneNumber): Promise<void> {
  const { id, direction, agentId, label, dispatchMetadataTemplate: template } = number
  await tx`
    update phone_numbers set direction = ${direction}, agent_id = ${agentId}, label = ${label === null ? null : storable(label)},
      dispatch_metadata_template = ${template === null ? null : JSON.stringify(template)}::text::json,
      updated_at = ${new Date(number.updatedAtMs)}
    ${ofTenant(tx, number)} and id = ${id}`
}
