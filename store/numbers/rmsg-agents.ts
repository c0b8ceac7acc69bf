/** Assigns rich-message numbers to agents. An agent has at most one number, and a number has at most one agent. */
import type { AgentSettings } from '../../domain/records/agent.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { isDedicated } from '../../domain/rmsg/numbers.ts'
import { lockTenant } from '../postgres/advisory-locks.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'

/**
 * The number chosen for an agent, or null if the agent needs no number. `unknown`: the named number is not in the pool.
 * `unavailable`: no number is free, or the named number is not free.
 */
export type RmsgChoice = { id: string } | null | 'unknown' | 'unavailable'

/** Serializes changes to a pool. Otherwise two agents could take the same oldest free number. */
export const lockPool = (tx: Tx, tenant: Tenant) => lockTenant(tx, tenant, 'rmsgPool')

/**
 * Chooses a number for an agent and locks the pool, but writes nothing. The agent keeps its number while this number is
 * active, unless the agent's settings name another number.
 */
export async function chooseNumber(
  tx: Tx,
  tenant: Tenant,
  agentId: string,
  rmsg: AgentSettings['rmsg'],
): Promise<RmsgChoice> {
  await lockPool(tx, tenant)
  if (!isDedicated(rmsg)) return null
  const named = rmsg.phoneNumberId ?? null
  if (named !== null && !isUuid(named)) return 'unknown'
  const { organizationId, test } = tenant
  const pool = await tx<{ id: string; status: string; agentId: string | null }[]>`
    select id, status, agent_id as "agentId" from rmsg_numbers
    where organization_id = ${organizationId} and test = ${test} and (${named}::uuid is null or id = ${named})
    order by (agent_id is not distinct from ${agentId}) desc, created_at, id`
  if (named !== null && pool.length === 0) return 'unknown'
  const usable = pool.find((number) => number.status === 'active' && (number.agentId ?? agentId) === agentId)
  return usable ? { id: usable.id } : 'unavailable'
}

/** Assigns the chosen number to the agent, and removes any other number from the agent. The pool must be locked. */
export async function giveNumber(
  tx: Tx,
  { organizationId, test }: Tenant,
  agentId: string,
  chosen: { id: string } | null,
): Promise<void> {
  await tx`
    update rmsg_numbers set agent_id = null, updated_at = now()
    where organization_id = ${organizationId} and test = ${test} and agent_id = ${agentId}
      and id is distinct from ${chosen?.id ?? null}::uuid`
  if (chosen === null) return
  await tx`
    update rmsg_numbers set agent_id = ${agentId}, updated_at = now()
    where organization_id = ${organizationId} and test = ${test} and id = ${chosen.id}
      and agent_id is distinct from ${agentId}`
}

/**
 * Removes the number from the settings. Only the number's row stores the assignment, so an agent's stored settings have
 * no number.
 */
export function withoutNumber({ rmsg, ...settings }: AgentSettings): AgentSettings {
  if (rmsg === undefined) return settings
  const { enabled, mode } = rmsg
  return { ...settings, rmsg: { ...(enabled !== undefined && { enabled }), ...(mode && { mode }) } }
}

export function withNumber(settings: AgentSettings, phoneNumberId: string | null): AgentSettings {
  return isDedicated(settings.rmsg) ? { ...settings, rmsg: { ...settings.rmsg, phoneNumberId } } : settings
}

export const numberOfAgent = (tx: Tx) => tx`
  (select n.id from rmsg_numbers n where n.organization_id = agents.organization_id and n.test = agents.test
    and n.agent_id = agents.id) as "rmsgNumberId"`
