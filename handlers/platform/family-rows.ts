/**
 * The rows of the platform surface as the published SDKs of the hosted product read them (`clients: family`). Their types are
 * checked when an answer is read, so that one null where they have none makes a whole list unreadable. Each field here is
 * required there, or null or wider here; docs/moving.md lists them.
 */
import type { Caller } from '../../domain/access/organization.ts'
import { ResourceFault } from '../../domain/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import type { Context } from '../../runtime/engine/handler.ts'
import { familyKyb, familySubmission } from './family-kyb.ts'

type Handle<Request, Result> = (request: Request, context: Context<Caller>) => Result | Promise<Result>

export function withFamilyRows(handlers: PlatformHandlers<Caller>): PlatformHandlers<Caller> {
  return {
    ...handlers,
    ...agentOperations(handlers),
    ...numberOperations(handlers),
    getCall: after(handlers.getCall, ({ report, ...call }) => ({ ...call, report: analysed(report) })),
    getCallReport: after(handlers.getCallReport, requireAnalysed),
    finalizeCallReport: after(handlers.finalizeCallReport, familyCosts),
    cancelTransfer: after(handlers.cancelTransfer, ({ fallback, ...transfer }) => ({
      ...transfer,
      fallback: fallback && { ...fallback, message: fallback.message ?? '' },
    })),
    listWebhookDeliveries: beside(handlers.listWebhookDeliveries, familyPage),
    getWebhookDelivery: beside(handlers.getWebhookDelivery, familyDetail),
  }
}

function agentOperations(handlers: PlatformHandlers<Caller>) {
  return {
    createAgent: after(handlers.createAgent, familyAgent),
    listAgents: after(handlers.listAgents, (agents) => agents.map(familyAgent)),
    getAgent: after(handlers.getAgent, familyAgent),
    updateAgent: after(handlers.updateAgent, familyAgent),
    createAgentTool: after(handlers.createAgentTool, familyTool),
    listAgentTools: after(handlers.listAgentTools, (tools) => tools.map(familyTool)),
    getAgentTool: after(handlers.getAgentTool, familyTool),
    updateAgentTool: after(handlers.updateAgentTool, familyTool),
  } satisfies Partial<PlatformHandlers<Caller>>
}

function numberOperations(handlers: PlatformHandlers<Caller>) {
  return {
    // One without a price cannot be bought.
    searchPhoneNumbers: after(handlers.searchPhoneNumbers, (offers) =>
      offers.filter(({ monthlyCostUsd, upfrontCostUsd }) => monthlyCostUsd !== null && upfrontCostUsd !== null),
    ),
    getBusinessVerification: beside(handlers.getBusinessVerification, familyKyb),
    saveBusinessVerificationDraft: beside(handlers.saveBusinessVerificationDraft, familySubmission),
    submitBusinessVerification: beside(handlers.submitBusinessVerification, familySubmission),
  } satisfies Partial<PlatformHandlers<Caller>>
}

/** The answer with a body that has more than the document says, or what the document allows too. */
function after<Request, Result extends { body: object }>(
  handle: Handle<Request, Result>,
  shape: (body: Result['body']) => object,
): Handle<Request, Result> {
  return async (request, context) => {
    const result = await handle(request, context)
    return { ...result, body: shape(result.body) }
  }
}

/**
 * The answer with a body beside the document, which has no such values: it is written as bytes, because tests hold JSON to the
 * document.
 */
function beside<Request, Result extends { body: object }>(
  handle: Handle<Request, Result>,
  shape: (body: Result['body']) => object,
): Handle<Request, Result> {
  return async (request, context) => {
    const result = await handle(request, context)
    return { ...result, body: Buffer.from(JSON.stringify(shape(result.body))) }
  }
}

/** `balanced` is the default, which those SDKs do not name. */
function familyAgent({ intent, webhooks, ...agent }: Wire.Agent) {
  const { optimizeFor, ...rest } = intent
  const isNamed = optimizeFor !== undefined && optimizeFor !== 'balanced'
  return {
    ...agent,
    intent: isNamed ? intent : rest,
    webhooks:
      webhooks && Object.fromEntries(Object.entries(webhooks).map(([field, hook]) => [field, familyHook(hook)])),
  }
}

function familyHook(hook: Wire.AgentWebhook | null) {
  return hook && { ...hook, ...secretRefs(hook.endpointId, hook) }
}

function familyTool({ source, ...tool }: Wire.Tool) {
  return { ...tool, source: source.kind === 'webhook' ? { ...source, ...secretRefs(tool.id, source) } : source }
}

type Secrets = { hasSecret: boolean; authHeaders: readonly { name: string }[] | null }

/** A secret has the name of its tool or endpoint, since it has no other. */
function secretRefs(owner: string, { hasSecret, authHeaders }: Secrets) {
  return {
    secretRef: hasSecret ? `secret:${owner}` : 'secret:workspace',
    authHeaders: authHeaders?.map((header) => ({ ...header, secretRef: `secret:${owner}:${header.name}` })) ?? null,
  }
}

/** Those SDKs know no report that is still being made. */
function analysed(report: Wire.CallReport | null) {
  return report === null || report.analysis_status === 'pending' ? null : familyCosts(report)
}

function requireAnalysed(report: Wire.CallReport) {
  if (report.analysis_status === 'pending') throw new ResourceFault({ kind: 'report_missing', hasEnded: false })
  return familyCosts(report)
}

/** A cost that is not known counts as 0; `cost_complete` and `priceSource` say that it is not. */
function familyCosts<Report extends { cost_micro_usd: string; cost_breakdown?: readonly Wire.CostLine[] }>(
  report: Report,
) {
  const lines = report.cost_breakdown?.map((line) => ({ ...line, costMicroUsd: line.costMicroUsd ?? '0' }))
  return { ...report, ...(lines !== undefined && { cost_breakdown: lines }) }
}

/** Rich messages have another name there. */
const familyKind = (kind: Wire.EndpointKind) => (kind === 'rmsg' ? 'imessage' : kind)

function familyDelivery<Delivery extends Pick<Wire.WebhookDelivery, 'event' | 'endpointKind'>>(delivery: Delivery) {
  const { event, endpointKind } = delivery
  return { ...delivery, event: event.replace(/^rmsg\./, 'imessage.'), endpointKind: familyKind(endpointKind) }
}

function familyPage({ data, endpointOptions, ...page }: Wire.WebhookDeliveryPage) {
  const options = endpointOptions.map((option) => ({ ...option, kind: familyKind(option.kind) }))
  return { ...page, data: data.map(familyDelivery), endpointOptions: options }
}

/** The body of a request is the event as an object. */
function familyDetail({ attempts, ...delivery }: Wire.WebhookDeliveryDetail) {
  const { requestPayload } = delivery
  return {
    ...familyDelivery(delivery),
    attempts: attempts.map((attempt) => ({ ...attempt, requestBody: requestPayload })),
  }
}
