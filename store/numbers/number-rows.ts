/** Reads phone numbers from their rows, and locks the rows around them. */
import type { Tenant } from '../../domain/records/organization.ts'
import type { Order, PhoneNumber } from '../../domain/records/phone-number.ts'
import type { Tx } from '../postgres/connect.ts'

type Assignment = NonNullable<PhoneNumber['smsAssignment']>
type Row = Omit<
  PhoneNumber,
  'order' | 'price' | 'overdueSinceMs' | 'smsAssignment' | 'isAlsoImported' | `${string}AtMs`
> & {
  orderStatus: Order['status']
  orderId: string | null
  resourceId: string | null
  upfrontMicroUsd: number | null
  monthlyMicroUsd: number | null
  nextChargeAt: Date | null
  lastChargedAt: Date | null
  overdueSince: Date | null
  suspendedAt: Date | null
  firstCalledAt: Date | null
  smsCampaignId: string | null
  smsStatus: Assignment['status'] | null
  smsAssignedTo: Assignment['assignedTo'] | null
  smsUpdatedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

type Part = ReturnType<typeof columns>

const idForm = /^pn_[0-9A-Za-z]{22}$/

/**
 * Returns true if the text has the form of a phone number's id. Other text names no number, so no statement searches
 * for it.
 */
export function isNumberId(id: string): boolean {
  return idForm.test(id)
}

const columns = (tx: Tx) => tx`
  organization_id as "organizationId", test, id, e164, source, sip_connection_id as "connectionId",
  sip_provider_name as "sipProviderName", (
    select json_build_object('status', c.status, 'takesCalls', c.inbound_addresses is not null,
      'placesCalls', c.outbound_host is not null)
    from sip_connections c where c.organization_id = phone_numbers.organization_id and c.test = phone_numbers.test
      and c.id = sip_connection_id) as connection, direction, agent_id as "agentId", label,
  dispatch_metadata_template as "dispatchMetadataTemplate", awaits_approval as "awaitsApproval", order_status as "orderStatus", order_id as "orderId",
  resource_id as "resourceId", upfront_micro_usd as "upfrontMicroUsd", monthly_micro_usd as "monthlyMicroUsd",
  next_charge_at as "nextChargeAt", last_charged_at as "lastChargedAt", overdue_since as "overdueSince", suspended_at as "suspendedAt",
  first_called_at as "firstCalledAt", takes_sms as "takesSms", sms_campaign_id as "smsCampaignId",
  sms_assignment_status as "smsStatus", sms_assigned_to as "smsAssignedTo", sms_assignment_updated_at as "smsUpdatedAt",
  sms_review_errors as "smsReviewErrors", created_at as "createdAt", updated_at as "updatedAt"`

/** Reads phone numbers. `whereClause` begins with `where`. */
export async function readNumbers(tx: Tx, whereClause: Part): Promise<PhoneNumber[]> {
  const rows = await tx<Row[]>`select ${columns(tx)} from phone_numbers ${whereClause}`
  return rows.map(numberOf)
}

function numberOf(row: Row): PhoneNumber {
  const { orderStatus, orderId, resourceId, upfrontMicroUsd, monthlyMicroUsd, ...more } = row
  const { nextChargeAt, lastChargedAt, overdueSince, suspendedAt, firstCalledAt, createdAt, updatedAt, ...rest } = more
  const { smsCampaignId, smsStatus, smsAssignedTo, smsUpdatedAt, ...number } = rest
  return {
    ...number,
    order: { status: orderStatus, id: orderId, resourceId },
    isAlsoImported: false,
    price: upfrontMicroUsd === null || monthlyMicroUsd === null ? null : { upfrontMicroUsd, monthlyMicroUsd },
    smsAssignment: assignmentOf({ smsCampaignId, smsStatus, smsAssignedTo, smsUpdatedAt }),
    nextChargeAtMs: nextChargeAt?.getTime() ?? null,
    lastChargedAtMs: lastChargedAt?.getTime() ?? null,
    overdueSinceMs: overdueSince?.getTime() ?? null,
    suspendedAtMs: suspendedAt?.getTime() ?? null,
    firstCalledAtMs: firstCalledAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  }
}

type AssignmentColumns = Pick<Row, 'smsCampaignId' | 'smsStatus' | 'smsAssignedTo' | 'smsUpdatedAt'>

function assignmentOf(columns: AssignmentColumns): Assignment | null {
  const { smsCampaignId, smsStatus, smsAssignedTo, smsUpdatedAt } = columns
  if (smsCampaignId === null || smsStatus === null || smsAssignedTo === null || smsUpdatedAt === null) return null
  return {
    campaignId: smsCampaignId,
    status: smsStatus,
    assignedTo: smsAssignedTo,
    updatedAtMs: smsUpdatedAt.getTime(),
  }
}

export const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`where organization_id = ${organizationId} and test = ${test}`

export const ofNumber = (tx: Tx, tenant: Tenant, id: string) => tx`${ofTenant(tx, tenant)} and id = ${id}`

/**
 * Locks the organization until the transaction ends. No other transaction adds a number or a SIP connection meanwhile,
 * so a count stays right. But changes to the organization's credit wait too.
 */
export async function lockOrganization(tx: Tx, { organizationId }: Tenant): Promise<void> {
  await tx`select from organizations where id = ${organizationId} for no key update`
}

export async function isFull(tx: Tx, tenant: Tenant, numbersMax: number): Promise<boolean> {
  const [row] = await tx<{ count: number }[]>`select count(*)::int as count from phone_numbers ${ofTenant(tx, tenant)}`
  return (row?.count ?? 0) >= numbersMax
}

/** Returns the ids of an agent's numbers, oldest first. */
export async function numbersOfAgent(tx: Tx, tenant: Tenant, agentId: string, limit: number): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from phone_numbers ${ofTenant(tx, tenant)} and agent_id = ${agentId} order by created_at, id limit ${limit}`
  return rows.map(({ id }) => id)
}

/**
 * Returns true if the agent exists, or if `agentId` is null. Locks the agent, so no other transaction deletes it until
 * this transaction ends.
 */
export async function hasAgent(tx: Tx, { organizationId, test }: Tenant, agentId: string | null): Promise<boolean> {
  if (agentId === null) return true
  const rows = await tx`
    select from agents where organization_id = ${organizationId} and test = ${test} and id = ${agentId.replaceAll('\0', '')}
    for share`
  return rows.length > 0
}
