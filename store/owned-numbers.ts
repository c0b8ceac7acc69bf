/** The phone numbers of organizations, as they are administered. Every statement names the organization and the world. */
import type { PhoneNumber, PhoneNumberStore } from '../domain/numbers/phone-number.ts'
import type { Tx } from './connect.ts'
import { hasAgent, isNumberId, ofNumber, ofTenant, readNumbers } from './number-rows.ts'
import { storable } from './row-values.ts'
import { hasConnection } from './sip-connections.ts'
import { isTaken } from './taken.ts'
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
    async import(number) {
      try {
        return await worlds.asTenant(number, (tx) => insertImported(tx, number))
      } catch (error) {
        if (isTaken(error, 'phone_numbers_trunk')) return 'exists'
        throw error
      }
    },
    remove: (tenant, id) =>
      worlds.asTenant(tenant, async (tx) => void (await tx`delete from phone_numbers ${ofNumber(tx, tenant, id)}`)),
  }
}

async function insertImported(
  tx: Tx,
  number: PhoneNumber,
): Promise<PhoneNumber | 'agent_unknown' | 'connection_unknown'> {
  const { organizationId, test, id, e164, source, connectionId, direction, agentId, label } = number
  const { sipProviderName, dispatchMetadataTemplate: template, createdAtMs, updatedAtMs } = number
  if (!(await hasAgent(tx, number, agentId))) return 'agent_unknown'
  if (!(await hasConnection(tx, number, connectionId))) return 'connection_unknown'
  await tx`
    insert into phone_numbers (organization_id, test, id, e164, source, sip_connection_id, sip_provider_name, direction,
      agent_id, label, dispatch_metadata_template, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${e164}, ${source}, ${connectionId},
      ${sipProviderName && storable(sipProviderName)}, ${direction}, ${agentId}, ${label && storable(label)},
      ${template === null ? null : JSON.stringify(template)}::text::json, ${new Date(createdAtMs)}, ${new Date(updatedAtMs)})`
  const [stored] = await readNumbers(tx, ofNumber(tx, number, id))
  if (stored === undefined) throw new Error('an inserted number was not returned')
  return stored
}

async function update(tx: Tx, number: PhoneNumber): Promise<void> {
  const { id, direction, agentId, label, dispatchMetadataTemplate: template } = number
  await tx`
    update phone_numbers set direction = ${direction}, agent_id = ${agentId}, label = ${label === null ? null : storable(label)},
      dispatch_metadata_template = ${template === null ? null : JSON.stringify(template)}::text::json,
      updated_at = ${new Date(number.updatedAtMs)}
    ${ofTenant(tx, number)} and id = ${id}`
}
