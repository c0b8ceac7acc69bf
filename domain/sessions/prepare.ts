/** Prepares a session of any kind: finds its agent, makes its settings, and checks the limits. */
import type { Limits } from '../access/limits.ts'
import { takeLease } from '../access/take-lease.ts'
import { joinTools } from '../agents/join-tools.ts'
import { creditFault } from '../billing/budget.ts'
import type { Credit } from '../billing/ledger.ts'
import type { Agent, AgentStore } from '../records/agent.ts'
import { Fault } from '../records/fault.ts'
import type { Caller, Tenant } from '../records/organization.ts'
import type { SessionTransport } from '../records/pipeline.ts'
import { ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import type { StoredTool, ToolStore } from '../records/tool.ts'
import { issuesOfJoined, type SessionRules } from './check.ts'
import { joinSettings } from './join.ts'
import { joinMetadata, type PreCallOverrides, type SessionSettings } from './pre-call.ts'
import { type Occasion, renderSettings, type TemplateField } from './render.ts'
import type { SessionRequest } from './start.ts'

export type PrepareDeps = {
  agents: Pick<AgentStore, 'find'>
  tools: Pick<ToolStore, 'listWithSecrets'>
  rules: SessionRules
  limits: Limits
  credit: Pick<Credit, 'refusal'>
  organizations: SessionOrganizations
  calls: LiveCount
}

/** Finds the organization's settings that a session needs. */
export interface SessionOrganizations {
  find(id: string): Promise<{ recordingEnabled: boolean; maxSessions: number | null; isDisabled: boolean } | null>
}

export interface LiveCount {
  /** Counts the organization's connected calls, live and test calls together. */
  countLive(organizationId: string): Promise<number>
}

/** Finds the agent. Throws ResourceFault `not_found` if the tenant has no such agent. */
export async function agentOf({ agents }: PrepareDeps, tenant: Tenant, agentId: string | null): Promise<Agent | null> {
  if (agentId === null) return null
  const agent = await agents.find(tenant, agentId)
  if (agent === null) throw new ResourceFault({ kind: 'not_found', named: 'agent' })
  return agent
}

/** All inputs for a session's settings except the request. */
export type Preparation = {
  organizationId: string
  occasion: Occasion
  transport: SessionTransport
  organization: { recordingEnabled: boolean; maxSessions: number | null } | null
  agent: Agent | null
  tools: readonly StoredTool[]
  /** True if an earlier session has already rendered the request's texts. */
  isRendered?: boolean
}

export async function preparationOf(
  { organizations, tools }: PrepareDeps,
  tenant: Tenant,
  { agent, ...rest }: Pick<Preparation, 'occasion' | 'transport' | 'agent' | 'isRendered'>,
): Promise<Preparation> {
  return {
    ...rest,
    agent,
    organizationId: tenant.organizationId,
    organization: await organizations.find(tenant.organizationId),
    tools: agent === null ? [] : await tools.listWithSecrets(tenant, agent.id),
  }
}

/**
 * Makes the session's settings. `requests` are the request and, after it, an endpoint's changes. Throws ResourceFault
 * if they break a rule.
 */
export async function prepared(
  { rules }: Pick<PrepareDeps, 'rules'>,
  { organizationId, occasion, transport, organization, agent, tools, isRendered = false }: Preparation,
  ...requests: readonly [SessionRequest, ...PreCallOverrides[]]
): Promise<SessionSettings> {
  const joined = joinSettings(agent, ...requests)
  refuseIssues(issuesOfJoined(joined))
  const own = joinTools(transport, tools, ...requests.map((each) => each.tools))
  const [{ variables }, ...changes] = requests
  const rendered = await renderSettings(joined, {
    agent,
    variables: variables ?? {},
    occasion,
    organizationId,
    render: rules.render,
    isRendered: (field) => isRendered && !changes.some((change) => isSetBy(change, field)),
  })
  // If the organization has turned recording off, neither agent nor request can turn it on.
  const recording = (organization?.recordingEnabled ?? false) && (joined.recording ?? true)
  return {
    pipeline: { transport, ...rendered, recording, tools: own.tools },
    secrets: own.secrets,
    metadata: joinMetadata(requests.map(({ metadata }) => metadata)),
  }
}

const isSetBy = (change: SessionRequest, field: TemplateField) => change[field] !== undefined

/** Throws a fault if the organization's credit or the key's budget is used up. A test session needs no credit. */
export async function requireCredit({ credit }: Pick<PrepareDeps, 'credit'>, caller: Caller): Promise<void> {
  const refusal = caller.test ? null : await credit.refusal(caller)
  if (refusal !== null) throw creditFault('credit_too_low', refusal, caller)
}

export type SeatDeps = Pick<PrepareDeps, 'limits' | 'calls'>

/**
 * Throws a fault if the session limits are reached, so that the refusal comes before any work. Nothing is reserved: the
 * session is counted later, when it begins.
 */
export async function requireSeat(deps: SeatDeps, caller: Caller, sessionsMax: number | null): Promise<void> {
  const { limits, calls } = deps
  const end = await takeLease(limits, caller, 'session')
  end()
  const { id } = caller.organization
  if (sessionsMax === null || (await calls.countLive(id)) < sessionsMax) return
  throw new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 })
}
