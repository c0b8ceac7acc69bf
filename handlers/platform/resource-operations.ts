/** Makes the operations on stored resources: agents, tools, webhook endpoints, phone numbers and others. */
import type { ActorNames } from '../../domain/access/api-keys.ts'
import type { AgentVersions } from '../../domain/agents/agent-versions.ts'
import type { Agents } from '../../domain/agents/agents.ts'
import type { Tools } from '../../domain/agents/tools.ts'
import type { BusinessVerifications } from '../../domain/numbers/business-verification.ts'
import type { PhoneNumbers } from '../../domain/numbers/phone-numbers.ts'
import type { SipConnectionOperations } from '../../domain/numbers/sip-connections.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { Subscriptions } from '../../domain/rmsg/subscriptions.ts'
import type { DeliveryStore } from '../../domain/webhooks/delivery-store.ts'
import type { Endpoints } from '../../domain/webhooks/endpoints.ts'
import type { WorkspaceSecrets } from '../../domain/webhooks/workspace-secret.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { createAgentTool, deleteAgentTool, getAgentTool, listAgentTools, updateAgentTool } from './agent-tools.ts'
import { agentVersionOperations } from './agent-versions.ts'
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from './agents.ts'
import { businessVerificationOperations, type SavedBrand } from './business-verification.ts'
import { phoneNumberOperations } from './phone-numbers.ts'
import { rmsgSubscriptionOperations } from './rmsg-subscriptions.ts'
import { sipConnectionOperations } from './sip-connections.ts'
import { type WebhookOperation, webhookOperations } from './webhooks.ts'

export type Resources = {
  agents: Agents
  agentVersions: AgentVersions
  tools: Tools
  endpoints: Endpoints
  phoneNumbers: PhoneNumbers
  sipConnections: SipConnectionOperations
  rmsgSubscriptions: Subscriptions
}

export type ResourceOperationDeps = {
  resources: Resources
  actorNames: ActorNames
  webhookSecrets: WorkspaceSecrets
  verifications: BusinessVerifications
  savedBrand: SavedBrand
  webhookDeliveries: Pick<DeliveryStore, 'summaries'>
  /** The SIP URI to which trunks send calls. Null if this server accepts no calls from trunks. */
  sipUri: string | null
}

type ResourceOperation =
  | 'createAgent'
  | 'listAgents'
  | 'getAgent'
  | 'updateAgent'
  | 'deleteAgent'
  | 'createAgentTool'
  | 'listAgentTools'
  | 'getAgentTool'
  | 'updateAgentTool'
  | 'deleteAgentTool'
  | keyof ReturnType<typeof agentVersionOperations>
  | keyof ReturnType<typeof phoneNumberOperations>
  | keyof ReturnType<typeof sipConnectionOperations>
  | keyof ReturnType<typeof rmsgSubscriptionOperations>
  | keyof ReturnType<typeof businessVerificationOperations>
  | WebhookOperation

export function resourceOperations(deps: ResourceOperationDeps): Pick<PlatformHandlers<Caller>, ResourceOperation> {
  const { agents, agentVersions, tools, endpoints, phoneNumbers, sipConnections, rmsgSubscriptions } = deps.resources
  return {
    createAgent: createAgent(agents),
    listAgents: listAgents(agents),
    getAgent: getAgent(agents),
    updateAgent: updateAgent(agents),
    deleteAgent: deleteAgent(agents),
    ...agentVersionOperations(agentVersions, deps.actorNames),
    createAgentTool: createAgentTool(tools),
    listAgentTools: listAgentTools(tools),
    getAgentTool: getAgentTool(tools),
    updateAgentTool: updateAgentTool(tools),
    deleteAgentTool: deleteAgentTool(tools),
    ...phoneNumberOperations(phoneNumbers, deps.sipUri !== null),
    ...sipConnectionOperations(sipConnections, deps.sipUri),
    ...rmsgSubscriptionOperations(rmsgSubscriptions),
    ...businessVerificationOperations(deps.verifications, deps.savedBrand),
    ...webhookOperations(endpoints, deps.webhookSecrets, deps.webhookDeliveries),
  }
}
