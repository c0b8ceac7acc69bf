/**
 * The operations on agents, tools, webhook endpoints and phone numbers, with the runtime's checks for templates,
 * schemas and hosts.
 */
import { loopTurn } from '../audio/loop-turn.ts'
import { createAgentVersions } from '../domain/agents/agent-versions.ts'
import { createAgents } from '../domain/agents/agents.ts'
import type { CheckTemplate } from '../domain/agents/check-agent.ts'
import { createTools } from '../domain/agents/tools.ts'
import type { Catalog } from '../domain/catalog/catalog.ts'
import { createPhoneNumbers } from '../domain/numbers/phone-numbers.ts'
import { createSipConnections } from '../domain/numbers/sip-connections.ts'
import { createSubscriptions } from '../domain/rmsg/subscriptions.ts'
import type { SessionRules } from '../domain/sessions/check.ts'
import { createEndpoints } from '../domain/webhooks/endpoints.ts'
import type { Resources } from '../handlers/platform/resource-operations.ts'
import { isSubnet, placeOfHost } from '../runtime/outbound/address-guard.ts'
import { isBadPort } from '../runtime/outbound/bad-ports.ts'
import { schemaFault } from '../runtime/values/json-schema.ts'
import { isPhoneNumber, isUsNumber } from '../runtime/values/phone-number.ts'
import { renderTemplate, templateFault } from '../runtime/values/template.ts'
import type { App } from './app.ts'
import { clientsOf } from './clients.ts'
import type { Numbers } from './numbers.ts'
import type { SipTrunks } from './trunks.ts'

type ResourceParts = { catalog: Catalog; numbers: Numbers; trunks: SipTrunks | null }

export function createResources(app: App, { catalog, numbers, trunks }: ResourceParts): Resources {
  const { config, store, clock, ids } = app
  const rules = createRules(catalog, config.outbound.allowedSubnets)
  const { hosts } = rules.tool
  return {
    agents: createAgents({
      store: store.agents,
      rules: rules.agent,
      hosts,
      clock,
      agentId: ids.agent,
      endpointId: ids.endpoint,
      agentsMax: config.limits.agentsMax,
    }),
    agentVersions: createAgentVersions(store.agentVersions, rules.agent),
    tools: createTools({ ...rules.tool, store: store.tools, clock, toolId: ids.tool }),
    endpoints: createEndpoints({ hosts, store: store.webhookEndpoints, clock, endpointId: ids.endpoint }),
    phoneNumbers: createPhoneNumbers({
      store: store.ownedNumbers,
      orders: store.numberOrders,
      verification: numbers.verifications,
      carriers: numbers.carriers,
      smsRegistries: numbers.smsRegistries,
      rules,
      clock,
      numberId: ids.phoneNumber,
      isUsNumber,
      isPhoneNumber,
      // Without the setting, imports need approval if there are several organizations. Counts them in the database,
      // because this process may not have noticed a new organization yet.
      importsNeedApproval: async () => config.sip.importsNeedApproval ?? (await store.organizations.areSeveral()),
      followsAgent: clientsOf(config).isFamily,
    }),
    sipConnections: createSipConnections({
      store: store.ownedConnections,
      hosts,
      isSubnet,
      clock,
      connectionId: ids.sipConnection,
      allowedAddressesMax: config.sip.allowedAddressesMax,
      attempts: store.signInAttempts,
      checkTrunk: trunks && ((id) => trunks.line.check(id)),
    }),
    rmsgSubscriptions: createSubscriptions({
      store: store.rmsgSubscriptions,
      numbers: store.rmsgNumbers,
      hosts,
      clock,
      subscriptionId: ids.endpoint,
    }),
  }
}

/** Makes the rules for agents, tools and sessions that a schema cannot express. */
export function createRules(catalog: Catalog, allowedSubnets: readonly string[]): SessionRules {
  const hosts = {
    placeOf: (host: string) => placeOfHost(host, { allowedSubnets }),
    allowsAny: allowedSubnets.length > 0,
    isBadPort,
  }
  return {
    agent: { catalog, checkTemplate, pause },
    tool: { compileSchema: schemaFault, hosts, isPhoneNumber },
    render,
    pause,
  }
}

/** Lets the event loop serve other work before a step of a few milliseconds. */
const pause = async (organizationId: string) => {
  await loopTurn(1, organizationId)
}

/**
 * Renders a template after other waiting requests had a chance to run. A session has up to 13 templates, and rendering
 * them without a pause would delay these requests.
 */
const render: SessionRules['render'] = async (text, values, system, organizationId) => {
  await pause(organizationId)
  const rendered = renderTemplate(text, values, system)
  return 'kind' in rendered ? null : rendered
}

const checkTemplate: CheckTemplate = (text) => {
  const fault = templateFault(text)
  if (fault === null) return null
  if (fault.kind === 'too_costly') return { kind: 'template_too_costly' }
  if (fault.kind === 'too_large') return { kind: 'template_too_large', tagsMax: fault.tagsMax }
  if (fault.kind === 'expression_too_long') return { ...fault, kind: 'template_expression_too_long' }
  return { kind: 'template_malformed', line: fault.line, column: fault.column }
}
