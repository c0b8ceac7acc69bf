/**
 * Changes the platform API's responses for the hosted product's published SDKs (`clients: family`). The SDKs check
 * types, so one unexpected null makes a whole list unreadable. Each field changed here is required by the SDKs, or may
 * have null or further values in our contract. docs/moving.md lists these fields.
 */
import { nextMonthlyMs } from '../../domain/numbers/months.ts'
import { objectiveOf } from '../../domain/ports/model.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import type { Context } from '../../runtime/engine/handler.ts'
import { familyKyb, familySubmission } from './family-kyb.ts'
import { timeOf } from './times.ts'

type Handle<Request, Result> = (request: Request, context: Context<Caller>) => Result | Promise<Result>

export function withFamilyRows(
  handlers: PlatformHandlers<Caller>,
  clock: Pick<Clock, 'nowMs'>,
): PlatformHandlers<Caller> {
  return {
    ...handlers,
    ...agentOperations(handlers),
    ...numberOperations(handlers, clock),
    getCall: shaped(handlers.getCall, ({ report, ...call }) => ({ ...call, report: analysed(report) })),
    getCallReport: shaped(handlers.getCallReport, requireAnalysed),
    transferCallWarm: shaped(handlers.transferCallWarm, familyTransfer),
    cancelTransfer: shaped(handlers.cancelTransfer, familyTransfer),
    listWebhookDeliveries: unchecked(handlers.listWebhookDeliveries, familyPage),
    getWebhookDelivery: unchecked(handlers.getWebhookDelivery, familyDetail),
  }
}

function agentOperations(handlers: PlatformHandlers<Caller>) {
  return {
    createAgent: unchecked(handlers.createAgent, familyAgent),
    listAgents: unchecked(handlers.listAgents, (agents) => agents.map(familyAgent)),
    getAgent: unchecked(handlers.getAgent, familyAgent),
    updateAgent: unchecked(handlers.updateAgent, familyAgent),
    createAgentTool: unchecked(handlers.createAgentTool, familyTool),
    listAgentTools: unchecked(handlers.listAgentTools, (tools) => tools.map(familyTool)),
    getAgentTool: unchecked(handlers.getAgentTool, familyTool),
    updateAgentTool: unchecked(handlers.updateAgentTool, familyTool),
  } satisfies Partial<PlatformHandlers<Caller>>
}

function numberOperations(handlers: PlatformHandlers<Caller>, clock: Pick<Clock, 'nowMs'>) {
  const numberRow = (number: Wire.PhoneNumber) => familyNumber(number, clock.nowMs())
  return {
    listPhoneNumbers: shaped(handlers.listPhoneNumbers, (numbers) => numbers.map(numberRow)),
    getPhoneNumber: shaped(handlers.getPhoneNumber, numberRow),
    updatePhoneNumber: shaped(handlers.updatePhoneNumber, numberRow),
    importPhoneNumber: shaped(handlers.importPhoneNumber, numberRow),
    purchasePhoneNumber: shaped(handlers.purchasePhoneNumber, numberRow),
    // A number without a price cannot be bought, so it is left out.
    searchPhoneNumbers: shaped(handlers.searchPhoneNumbers, (offers) =>
      offers.filter(({ monthlyCostUsd, upfrontCostUsd }) => monthlyCostUsd !== null && upfrontCostUsd !== null),
    ),
    getBusinessVerification: unchecked(handlers.getBusinessVerification, familyKyb),
    saveBusinessVerificationDraft: unchecked(handlers.saveBusinessVerificationDraft, familySubmission),
    submitBusinessVerification: unchecked(handlers.submitBusinessVerification, familySubmission),
  } satisfies Partial<PlatformHandlers<Caller>>
}

/** Changes a handler's response to another shape. The contract also allows this shape. */
function shaped<Request, Result extends { body: object }>(
  handle: Handle<Request, Result>,
  shape: (body: Result['body']) => object,
): Handle<Request, Result> {
  return async (request, context) => {
    const result = await handle(request, context)
    return { ...result, body: shape(result.body) }
  }
}

/** Adds values outside the contract to a handler's response, so the response is not checked against the contract. */
function unchecked<Request, Result extends { body: object }>(
  handle: Handle<Request, Result>,
  shape: (body: Result['body']) => object,
): Handle<Request, Result> {
  const shapes = shaped(handle, shape)
  return async (request, context) => ({ ...(await shapes(request, context)), isUnchecked: true })
}

/**
 * Writes an agent. The SDKs support only `latency`, `quality` and `cost`: `balanced` is the default, and `accuracy` is
 * another name for `quality`.
 */
function familyAgent({ intent: { optimizeFor, ...intent }, webhooks, ...agent }: Wire.Agent) {
  const isNamed = optimizeFor !== undefined && optimizeFor !== 'balanced'
  return {
    ...agent,
    intent: { ...intent, ...(isNamed && { optimizeFor: objectiveOf(optimizeFor) }) },
    webhooks:
      webhooks &&
      present(Object.fromEntries(Object.entries(webhooks).map(([field, hook]) => [field, familyHook(hook)]))),
  }
}

function familyHook(hook: Wire.AgentWebhook | null) {
  return hook && present({ ...hook, ...secretRefs(hook.endpointId, hook) })
}

function familyTool({ source, ...tool }: Wire.Tool) {
  const isWebhook = source.kind === 'webhook'
  return { ...tool, source: isWebhook ? present({ ...source, ...secretRefs(tool.id, source) }) : source }
}

/** Leaves out the fields that are null: the SDKs' types have no null there. */
function present(row: object) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

type Secrets = { hasSecret: boolean; authHeaders: readonly { name: string }[] | null }

/** The SDKs require a secret's name. Our secrets have no names, so a secret gets its tool's or endpoint's name. */
function secretRefs(owner: string, { hasSecret, authHeaders }: Secrets) {
  return {
    secretRef: hasSecret ? `secret:${owner}` : 'secret:workspace',
    authHeaders: authHeaders?.map((header) => ({ ...header, secretRef: `secret:${owner}:${header.name}` })) ?? null,
  }
}

/**
 * Writes a call report. It is null while the analysis is pending, because the SDKs do not support a report in this
 * state.
 */
function analysed(report: Wire.CallReport | null) {
  return report === null || report.analysis_status === 'pending' ? null : familyCosts(report)
}

function requireAnalysed(report: Wire.CallReport) {
  if (report.analysis_status === 'pending') throw new ResourceFault({ kind: 'report_missing', because: 'analysing' })
  return familyCosts(report)
}

/**
 * Writes a call report's costs. An unknown cost is written as 0, but `cost_complete` and `priceSource` mark it as
 * unknown.
 */
function familyCosts(report: Wire.CallReport) {
  const lines = report.cost_breakdown.map((line) => ({ ...line, costMicroUsd: line.costMicroUsd ?? '0' }))
  return { ...report, cost_breakdown: lines }
}

/** Writes a transfer. A fallback without a message gets an empty text, because the SDKs require text. */
function familyTransfer({ fallback, ...transfer }: Wire.TransferProgress) {
  return { ...transfer, fallback: fallback && { ...fallback, message: fallback.message ?? '' } }
}

/** A number's fields for which this server has no value. */
const unknownNumberFields = { telnyxPhoneNumberId: null, sipTrunkId: null, sms10dlcProfileId: null }

/** Writes a number. The SDKs require a day for the next charge. If nothing is charged, `monthlyMicroUsd` is "0". */
function familyNumber(number: Wire.PhoneNumber, nowMs: number) {
  const { nextChargeAt, createdAt } = number
  const chargedAt = nextChargeAt ?? timeOf(nextMonthlyMs(Date.parse(createdAt), nowMs))
  return { ...unknownNumberFields, ...number, nextChargeAt: chargedAt }
}

/** Renames an endpoint's kind: the hosted product calls rich messages `imessage`. */
const familyKind = (kind: Wire.EndpointKind) => (kind === 'rmsg' ? 'imessage' : kind)

function familyDelivery<Delivery extends Pick<Wire.WebhookDelivery, 'event' | 'endpointKind'>>(delivery: Delivery) {
  const { event, endpointKind } = delivery
  return { ...delivery, event: event.replace(/^rmsg\./, 'imessage.'), endpointKind: familyKind(endpointKind) }
}

function familyPage({ data, endpointOptions, ...page }: Wire.WebhookDeliveryPage) {
  const options = endpointOptions.map((option) => ({ ...option, kind: familyKind(option.kind) }))
  return { ...page, data: data.map(familyDelivery), endpointOptions: options }
}

/** Writes a delivery. Each attempt's `requestBody` is the event as an object, as the SDKs read it. */
function familyDetail({ attempts, ...delivery }: Wire.WebhookDeliveryDetail) {
  const { requestPayload } = delivery
  return {
    ...familyDelivery(delivery),
    attempts: attempts.map((attempt) => ({ ...attempt, requestBody: requestPayload })),
  }
}
