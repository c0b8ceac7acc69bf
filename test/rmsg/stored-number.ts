/** Inserts rich-message numbers as rows in the store. */
import type postgres from 'postgres'
import { v7 } from 'uuid'

export type RmsgRow = {
  e164: string
  organizationId?: string | null
  agentId?: string | null
  status?: 'active' | 'paused' | 'unavailable'
  smsStatus?: 'not_configured' | 'pending' | 'ready' | 'failed'
  test?: boolean
}

/** Inserts a number. Returns its id. */
export async function insertRmsgNumber(sql: postgres.Sql, row: RmsgRow): Promise<string> {
  const { e164, organizationId = null, agentId = null, status = 'active', smsStatus = 'ready', test = false } = row
  const id = v7()
  await sql`
    insert into rmsg_numbers (test, id, e164, provider_identity, organization_id, agent_id, status, sms_status,
      sms_ready_at, created_at, updated_at)
    values (${test}, ${id}, ${e164}, ${`identity-${e164}`}, ${organizationId}, ${agentId}, ${status}, ${smsStatus},
      ${smsStatus === 'ready' ? new Date('2026-11-23T18:00:00.000Z') : null}, clock_timestamp(), now())`
  return id
}
