/** How a phone number is read from its row. */
import type { Tenant } from '../domain/access/organization.ts'
import type { PhoneNumber } from '../domain/numbers/phone-number.ts'
import type { Tx } from './connect.ts'

type Row = Omit<PhoneNumber, 'suspendedAtMs' | 'createdAtMs' | 'updatedAtMs'> & {
  suspendedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

type Part = ReturnType<typeof columns>

const idForm = /^pn_[0-9A-Za-z]{22}$/

/** Other text cannot be an id, so no statement asks for it. */
export function isNumberId(id: string): boolean {
  return idForm.test(id)
}

const columns = (tx: Tx) => tx`
  organization_id as "organizationId", test, id, e164, source, direction, agent_id as "agentId", label,
  dispatch_metadata_template as "dispatchMetadataTemplate", suspended_at as "suspendedAt", created_at as "createdAt",
  updated_at as "updatedAt"`

/** `wanted` begins with `where`. */
export async function readNumbers(tx: Tx, wanted: Part): Promise<PhoneNumber[]> {
  const rows = await tx<Row[]>`select ${columns(tx)} from phone_numbers ${wanted}`
  return rows.map(({ suspendedAt, createdAt, updatedAt, ...number }) => ({
    ...number,
    suspendedAtMs: suspendedAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  }))
}

export const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`where organization_id = ${organizationId} and test = ${test}`

/** The numbers that name an agent, oldest first. */
export async function numbersOfAgent(tx: Tx, tenant: Tenant, agentId: string, limit: number): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from phone_numbers ${ofTenant(tx, tenant)} and agent_id = ${agentId} order by created_at, id limit ${limit}`
  return rows.map(({ id }) => id)
}
