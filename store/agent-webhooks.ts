/** The webhook endpoints of agents. The endpoints of the tenant are locked. */
import type { Tenant } from '../domain/access/organization.ts'
import type { Tx } from './connect.ts'
import { ofTenant } from './webhook-endpoint-rows.ts'

/** An agent that is deleted leaves the lists. An endpoint that loses its last agent is disabled. */
export async function forgetAgent(tx: Tx, tenant: Tenant, agentId: string, nowMs: number): Promise<void> {
  const now = new Date(nowMs)
  await tx`
    update webhook_endpoints set agent_ids = agent_ids - ${agentId}::text, updated_at = ${now},
      disabled_at = case when agent_ids - ${agentId}::text = '[]' then coalesce(disabled_at, ${now}) else disabled_at end,
      disabled_reason = case when agent_ids - ${agentId}::text = '[]' then coalesce(disabled_reason, 'agents_deleted')
        else disabled_reason end
    ${ofTenant(tx, tenant)} and agent_ids ? ${agentId}::text`
}
