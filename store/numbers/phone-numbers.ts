/** Finds phone numbers for calls. */
import type { CallableNumber, CallableNumbers } from '../../domain/records/callable-number.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

type Row = CallableNumber & {
  suspendedAt: Date | null
  awaitsApproval: boolean
  orderStatus: 'pending' | 'done' | 'failed'
  takesCalls: boolean
  placesCalls: boolean
}

const columns = (tx: Tx) => tx`
  organization_id as "organizationId", test, id, e164, source, sip_connection_id as "connectionId", direction, agent_id as "agentId",
  dispatch_metadata_template as "dispatchMetadataTemplate", suspended_at as "suspendedAt",
  awaits_approval as "awaitsApproval",
  order_status as "orderStatus", ${hasSide(tx, 'inbound_addresses')} as "takesCalls",
  ${hasSide(tx, 'outbound_host')} as "placesCalls"`

/**
 * SQL: true if the number can be called (`inbound_addresses`) or can call (`outbound_host`). A trunk number can do so
 * only if this column is set in its SIP connection; any other number can do both.
 */
const hasSide = (tx: Tx, column: 'inbound_addresses' | 'outbound_host') => tx`(
  sip_connection_id is null or exists (
    select from sip_connections c where c.organization_id = phone_numbers.organization_id and c.test = phone_numbers.test
      and c.id = sip_connection_id and c.${tx(column)} is not null))`

export function createPhoneNumbers(worlds: Worlds & Pick<Tenancy, 'asOperator'>): CallableNumbers {
  return {
    findInbound: (e164, { line, organizationId }) =>
      worlds.asOperator(async (tx) => {
        const [row] = await tx<Row[]>`
          select ${columns(tx)} from phone_numbers
          where e164 = ${e164} and ${line === 'carrier' ? tx`source = 'managed'` : tx`(source = 'managed' or test)`}
            and order_status <> 'failed'
            ${line === 'carrier' ? tx`and not test` : tx``}
            ${organizationId === null ? tx`` : tx`and organization_id = ${organizationId}`}
          order by test, created_at, id limit 1`
        return row ?? null
      }),
    ofConnection: (connectionId, lastDigits) =>
      worlds.asOperator(
        (tx) => tx<Row[]>`
          select ${columns(tx)} from phone_numbers
          where source = 'sip_trunk' and sip_connection_id = ${connectionId} and not test and not awaits_approval
            and right(e164, ${lastDigits.length}) = ${lastDigits}
          order by created_at, id limit ${alikeMax}`,
      ),
    outboundFor: (tenant, agentId, from, hasLine) =>
      worlds.asTenant(tenant, async (tx) => {
        const all = await tx<Row[]>`
          select ${columns(tx)} from phone_numbers ${ofTenant(tx, tenant)}
            ${from === null ? tx`` : tx`and e164 = ${from}`} order by created_at, id`
        const ready = all.filter((row) => isOutboundReady(row) && hasLine(row))
        if (from !== null) return ready[0] ?? (all.length === 0 ? 'not_own' : 'not_ready')
        return ready.find((number) => agentId !== null && number.agentId === agentId) ?? ready[0] ?? 'none'
      }),
    outboundNamed: (tenant, id, hasLine) =>
      worlds.asTenant(tenant, async (tx) => {
        const [row] = await tx<Row[]>`select ${columns(tx)} from phone_numbers ${ofTenant(tx, tenant)} and id = ${id}`
        return row !== undefined && isOutboundReady(row) && hasLine(row) ? row : null
      }),
    isInboundReady: (number) =>
      worlds.asTenant(number, async (tx) => {
        const [row] = await tx<Row[]>`
          select ${columns(tx)} from phone_numbers ${ofTenant(tx, number)} and id = ${number.id}`
        return row !== undefined && isActive(row) && row.takesCalls && row.direction !== 'outbound'
      }),
  }
}

/** The maximum number of numbers with the same last digits that are read from one connection. */
const alikeMax = 1_000

const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`where organization_id = ${organizationId} and test = ${test}`

const isActive = ({ suspendedAt, orderStatus, awaitsApproval }: Row) =>
  suspendedAt === null && orderStatus === 'done' && !awaitsApproval
const isOutboundReady = (row: Row) => isActive(row) && row.placesCalls && row.direction !== 'inbound'
