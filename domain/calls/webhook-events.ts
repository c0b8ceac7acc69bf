/**
 * Makes the webhook events for a change to a call, each with its receivers and its body. The store reads the input and
 * stores the events in the change's transaction.
 *
 *   call.…, transfer.…                   ─► call.status
 *   recording.ready, recording.failed    ─► call.recording, and if it is ready the next version of a finished report
 *   the first analysis                   ─► call.report, call.analysis
 *   a later analysis or recording        ─► call.report
 */
import type { Call, CallEvent } from '../records/call.ts'
import type { Endpoint, WebhookEventType } from '../records/webhook-endpoint.ts'
import type { OutboxEvent } from '../webhooks/outbox.ts'
import { dataOf, type EndpointData, type EndpointFields } from './extraction.ts'
import type { EventPayloads, ReportedCall } from './payloads.ts'
import type { CustomData, Report } from './report.ts'

/**
 * The possible receivers of an event. `isStreamed` is true if a client reads the organization's events from a stream.
 */
export type Audience = { endpoints: readonly Endpoint[]; isStreamed: boolean }

/** The ids of the endpoints subscribed to `call.report` and `call.analysis` at the call's end. */
export type ReportReceivers = { report: readonly string[]; analysis: readonly string[] }

/** `endpointData` has the values for each endpoint's extraction fields. */
export type StoredReport = { report: Report; receivers: ReportReceivers; endpointData: EndpointData }

type EndpointName = Pick<Endpoint, 'id' | 'name'>

/**
 * An event with its endpoints. The first endpoint's body is in `event`. Endpoints with other extraction fields get
 * other bodies: `otherBodies`.
 */
export type AddressedEvent = {
  event: OutboxEvent
  endpoints: readonly EndpointName[]
  otherBodies: readonly { endpointIds: readonly string[]; body: Uint8Array }[]
}

/** `eventId` makes a UUIDv7. `payloads` is read only if there is an event. `nowMs` is the events' time. */
export type EventMaker = { eventId: () => string; payloads: EventPayloads; nowMs: number }

export const isStatus = ({ type }: CallEvent) => /^(call|transfer)\./.test(type)
export const isRecordingEnd = ({ type }: CallEvent) => type === 'recording.ready' || type === 'recording.failed'

/** Makes the `call.status` events. A call event and its webhook event have the same id. */
export function statusEvents(
  maker: EventMaker,
  call: Call,
  statuses: readonly CallEvent[],
  audience: Audience,
): AddressedEvent[] {
  const endpoints = subscribed(audience, 'call.status')
  if (endpoints.length === 0 && !audience.isStreamed) return []
  return statuses.map((status) => {
    const body = maker.payloads.status(call, status, maker.nowMs)
    const event = { ...eventOf(maker, call, 'call.status'), id: status.id, occurredAtMs: status.occurredAtMs, body }
    return { event, endpoints, otherBodies: [] }
  })
}

/**
 * Makes the `call.recording` event. `url` resolves with a link that works without a key, or with null if the recording
 * has failed.
 */
export async function recordingEvents(
  maker: EventMaker,
  call: Call,
  { occurredAtMs }: CallEvent,
  url: () => Promise<string | null>,
  audience: Audience,
): Promise<AddressedEvent[]> {
  const endpoints = subscribed(audience, 'call.recording')
  if (endpoints.length === 0 && !audience.isStreamed) return []
  const body = maker.payloads.recording(call, await url(), maker.nowMs)
  return [{ event: { ...eventOf(maker, call, 'call.recording'), occurredAtMs, body }, endpoints, otherBodies: [] }]
}

/** Returns true if any endpoint or stream gets the report. Otherwise its parts need not be read. */
export const needsReported = ({ receivers }: StoredReport, { endpoints, isStreamed }: Audience) =>
  isStreamed || endpoints.some(({ id }) => receivers.report.includes(id))

/**
 * Makes the events for a new analysis or recording. `isFirst` is true if the report was pending before. `reported` is
 * null if `needsReported` is false.
 */
export function reportEvents(
  maker: EventMaker,
  stored: StoredReport,
  { call, reported, isFirst }: { call: Call; reported: ReportedCall | null; isFirst: boolean },
  { endpoints, isStreamed }: Audience,
): AddressedEvent[] {
  const { report, receivers } = stored
  const events: AddressedEvent[] = []
  if (reported !== null) {
    const event = { ...eventOf(maker, call, 'call.report'), version: report.version }
    const bodyOf = (customData: CustomData) => maker.payloads.report(reported, customData, maker.nowMs)
    events.push(addressed(event, among(endpoints, receivers.report), bodyOf, call, stored))
  }
  const ofAnalysis = among(endpoints, receivers.analysis)
  if (isFirst && (ofAnalysis.length > 0 || isStreamed)) {
    const bodyOf = (customData: CustomData) => maker.payloads.analysis(call, report, customData, maker.nowMs)
    events.push(addressed(eventOf(maker, call, 'call.analysis'), ofAnalysis, bodyOf, call, stored))
  }
  return events
}

/**
 * Chooses the report's receivers at a call's end. `receivers` is null if no endpoint gets the report. `fields` are the
 * endpoints' extraction fields.
 */
export function receiversOf({ endpoints }: Audience): { receivers: ReportReceivers | null; fields: EndpointFields[] } {
  const report = endpoints.filter(({ events }) => events.includes('call.report'))
  const analysis = endpoints.filter(({ events }) => events.includes('call.analysis'))
  if (report.length + analysis.length === 0) return { receivers: null, fields: [] }
  return {
    receivers: { report: report.map(({ id }) => id), analysis: analysis.map(({ id }) => id) },
    fields: endpointFields(endpoints.filter((endpoint) => report.includes(endpoint) || analysis.includes(endpoint))),
  }
}

export function endpointFields(endpoints: readonly Endpoint[]): EndpointFields[] {
  return endpoints.map(({ id, extractionFields }) => ({ endpointId: id, fields: extractionFields }))
}

/**
 * Returns the ids of the endpoints that get a report. Later versions of the report go only to subscribers to
 * `call.report`.
 */
export function receiverIds({ report, analysis }: ReportReceivers, isFirst = true): string[] {
  return isFirst ? [...new Set([...report, ...analysis])] : [...report]
}

const subscribed = ({ endpoints }: Audience, type: WebhookEventType) =>
  endpoints.filter(({ events }) => events.includes(type))

const among = (endpoints: readonly Endpoint[], ids: readonly string[]) => endpoints.filter(({ id }) => ids.includes(id))

function eventOf({ eventId, nowMs }: EventMaker, call: Call, type: WebhookEventType): Omit<OutboxEvent, 'body'> {
  const { id: callId, agentId, webhookTags: tags } = call
  return { id: eventId(), type, callId, agentId, tags, version: null, occurredAtMs: nowMs, createdAtMs: nowMs }
}

/**
 * Addresses an event to its endpoints. Endpoints with different values get different bodies. An event stream has no
 * extraction fields, so it gets the first endpoint's body.
 */
function addressed(
  event: Omit<OutboxEvent, 'body'>,
  endpoints: readonly EndpointName[],
  bodyOf: (customData: CustomData) => Uint8Array,
  { pipeline }: Call,
  { report: { customData }, endpointData }: StoredReport,
): AddressedEvent {
  const groups = new Map<string, string[]>()
  for (const { id } of endpoints) {
    const data = JSON.stringify(dataOf(id, { customData, endpointData }, pipeline.extractionFields))
    groups.set(data, [...(groups.get(data) ?? []), id])
  }
  const [[first] = ['{}'], ...others] = groups
  const bodyWith = (data: string) => bodyOf(JSON.parse(data) as CustomData)
  return {
    event: { ...event, body: bodyWith(first) },
    endpoints,
    otherBodies: others.map(([data, endpointIds]) => ({ endpointIds, body: bodyWith(data) })),
  }
}
