/** The rich-message numbers on which agents answer. An agent has one at most, and a number has one agent at most. */
import type { AgentSettings } from '../../domain/records/agent.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { isDedicated } from '../../domain/rmsg/numbers.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'

/** Any number that no other advisory lock of two numbers has. */
const poolLock = 7_275_541

/** `unknown`: the named number is not in the pool. `unavailable`: no number is free, or the named one is not. Null: the agent needs none. */
export type RmsgChoice = { id: string } | null | 'unknown' | 'unavailable'

/** Makes the changes of a pool follow one another, so that two agents that take the oldest free number get one each. */
export async function lockPool(tx: Tx, { organizationId, test }: Tenant): Promise<void> {
  await tx`select pg_advisory_xact_lock(${poolLock}, hashtext(${`${organizationId} ${String(test)}`}))`
}

/** Locks the pool. Nothing is written. An agent keeps the number that it has while that is active, unless it names another one. */
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

/** The pool must be locked. */
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

/** Which number an agent has is in the row of the number alone. */
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
