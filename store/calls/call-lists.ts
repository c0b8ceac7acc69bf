/** Lists calls, newest first, page by page. */
import type { AgentCallPage, CallFilter, CallPage, CallPosition, OwnedCall } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { callsThatMatch } from './call-filter.ts'
import { callColumns, type SummaryRow, summaryOf } from './call-rows.ts'
import { createdAtUs, timestampOf } from './call-times.ts'

type Row = SummaryRow & { createdAtUs: number }

export async function listCalls(
  tx: Tx,
  tenant: Tenant,
  filter: CallFilter,
  limit: number,
  after: CallPosition | null,
): Promise<CallPage> {
  const rows = await tx<Row[]>`
    select ${callColumns(tx)}, ${createdAtUs(tx)} from calls where ${callsThatMatch(tx, tenant, filter, after)}
    order by created_at desc, id desc limit ${limit + 1}`
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const next = rows.length > limit && last ? { createdAtUs: last.createdAtUs, id: last.id } : null
  return { calls: page.map(summaryOf), next }
}

/** Lists an agent's calls. The cursor is a time, so a page also holds all calls with the same time as its last call. */
export async function listCallsOfAgent(
  tx: Tx,
  { organizationId, test }: Tenant,
  agentId: string,
  limit: number,
  { beforeUs, sinceUs }: { beforeUs: number | null; sinceUs: number | null },
): Promise<AgentCallPage> {
  const condition = (before: number | null) => tx`
    organization_id = ${organizationId} and test = ${test} and agent_id = ${agentId}
    ${before === null ? tx`` : tx`and created_at < ${timestampOf(before)}::text::timestamptz`}
    ${sinceUs === null ? tx`` : tx`and created_at >= ${timestampOf(sinceUs)}::text::timestamptz`}`
  const rows = await tx<Row[]>`
    select ${callColumns(tx)}, ${createdAtUs(tx)} from calls where ${condition(beforeUs)}
    order by created_at desc fetch first ${limit} rows with ties`
  const lastUs = rows.at(-1)?.createdAtUs
  if (rows.length < limit || lastUs === undefined) return { calls: rows.map(summaryOf), nextUs: null }
  const { count } = await tx`select from calls where ${condition(lastUs)} limit 1`
  return { calls: rows.map(summaryOf), nextUs: count > 0 ? lastUs : null }
}

/** Lists all unfinished calls with a serving process. The limits on sessions and on phone legs bound their number. */
export function listOwnedCalls(tx: Tx, organizationId: string): Promise<OwnedCall[]> {
  return tx<OwnedCall[]>`
    select organization_id as "organizationId", test, id, owner_id as "ownerId" from calls
    where organization_id = ${organizationId} and ended_at is null and owner_id is not null
    order by created_at`
}
