/** Joins the operations on agents, tools, webhook endpoints and phone numbers to what the runtime can check: templates, schemas and hosts. */
import { setImmediate as afterOthers } from 'node:timers/promises'
import type { AgentStore } from '../../domain/agents/agent.ts'
import { type Agents, createAgents } from '../../domain/agents/agents.ts'
import type { CheckTemplate } from '../../domain/agents/check-agent.ts'
import type { ToolStore } from '../../domain/agents/tool.ts'
import { createTools, type Tools } from '../../domain/agents/tools.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { NumberCarriers, NumberOrderStore } from '../../domain/numbers/orders.ts'
import type { PhoneNumberStore } from '../../domain/numbers/phone-number.ts'
import { createPhoneNumbers, type PhoneNumbers } from '../../domain/numbers/phone-numbers.ts'
import type { ConnectionStore } from '../../domain/numbers/sip-connection.ts'
import { createSipConnections, type SipConnectionOperations } from '../../domain/numbers/sip-connections.ts'
import type { BusinessVerification } from '../../domain/numbers/verification.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import { createSubscriptions, type SubscriptionStore, type Subscriptions } from '../../domain/rmsg/subscriptions.ts'
import type { SessionRules } from '../../domain/sessions/check.ts'
import type { SmsRegistries } from '../../domain/sms/registration.ts'
import type { EndpointStore } from '../../domain/webhooks/endpoint-store.ts'
import { createEndpoints, type Endpoints } from '../../domain/webhooks/endpoints.ts'
import { schemaFault } from '../../runtime/json-schema.ts'
import { isSubnet, placeOfHost } from '../../runtime/outbound/address-guard.ts'
import { isPhoneNumber, isUsNumber } from '../../runtime/phone-number.ts'
import { renderTemplate, templateFault } from '../../runtime/template.ts'

export type ResourceDeps = {
  catalog: Catalog
  stores: { agents: AgentStore; tools: ToolStore; webhookEndpoints: EndpointStore } & NumberStores
  carriers: NumberCarriers
  smsRegistries: SmsRegistries
  clock: Clock
  ids: Record<'agent' | 'tool' | 'endpoint' | 'phoneNumber' | 'sipConnection', () => string>
  agentsMax: number
  /** CIDR ranges that webhooks may be in although they are not public. */
  allowedSubnets: readonly string[]
}

type NumberStores = {
  ownedNumbers: PhoneNumberStore
  ownedConnections: ConnectionStore
  numberOrders: NumberOrderStore
  verification: BusinessVerification
  rmsgNumbers: RmsgNumberStore
  rmsgSubscriptions: SubscriptionStore
}

type Resources = {
  agents: Agents
  tools: Tools
  endpoints: Endpoints
  phoneNumbers: PhoneNumbers
  sipConnections: SipConnectionOperations
  rmsgSubscriptions: Subscriptions
}

export function createResources(deps: ResourceDeps): Resources {
  const { catalog, stores, carriers, smsRegistries, clock, ids, agentsMax, allowedSubnets } = deps
  const rules = createRules(catalog, allowedSubnets)
  return {
    agents: createAgents({
      store: stores.agents,
      rules: rules.agent,
      hosts: rules.tool.hosts,
      clock,
      agentId: ids.agent,
      endpointId: ids.endpoint,
      agentsMax,
    }),
    tools: createTools({ ...rules.tool, store: stores.tools, clock, toolId: ids.tool }),
    endpoints: createEndpoints({
      hosts: rules.tool.hosts,
      store: stores.webhookEndpoints,
      clock,
      endpointId: ids.endpoint,
    }),
    phoneNumbers: createPhoneNumbers({
      store: stores.ownedNumbers,
      orders: stores.numberOrders,
      verification: stores.verification,
      carriers,
      smsRegistries,
      rules,
      clock,
      numberId: ids.phoneNumber,
      isUsNumber,
      isPhoneNumber,
    }),
    sipConnections: createSipConnections({
      store: stores.ownedConnections,
      hosts: rules.tool.hosts,
      isSubnet,
      clock,
      connectionId: ids.sipConnection,
    }),
    rmsgSubscriptions: createSubscriptions({
      store: stores.rmsgSubscriptions,
      numbers: stores.rmsgNumbers,
      hosts: rules.tool.hosts,
      clock,
      subscriptionId: ids.endpoint,
    }),
  }
}

/** The rules for agents, tools and sessions that a schema cannot express. */
export function createRules(catalog: Catalog, allowedSubnets: readonly string[]): SessionRules {
  const hosts = {
    placeOf: (host: string) => placeOfHost(host, { allowedSubnets }),
    allowsAny: allowedSubnets.length > 0,
  }
  return {
    agent: { catalog, checkTemplate },
    tool: { compileSchema: schemaFault, hosts, isPhoneNumber },
    render,
    pause: () => afterOthers(),
  }
}

/** A session has up to 13 templates, and between two of them other requests have their turn. */
const render: SessionRules['render'] = async (text, values, system) => {
  await afterOthers()
  const rendered = renderTemplate(text, values, system)
  return 'kind' in rendered ? null : rendered
}

const checkTemplate: CheckTemplate = (text) => {
  const fault = templateFault(text)
  if (fault === null) return null
  if (fault.kind === 'too_large') return { kind: 'template_too_large', tagsMax: fault.tagsMax }
  return { kind: 'template_malformed', line: fault.line, column: fault.column }
}
