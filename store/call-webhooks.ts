/**
 * Makes the events of calls for the endpoints that match, in the transaction that changes the call: so an event is there
 * exactly if the change is. The row of the call is locked, so that the events of a call follow one another.
 */
import type { Tenant } from '../domain/access/organization.ts'
import type { Call, CallEvent } from '../domain/calls/call.ts'
import { costsOf } from '../domain/calls/costs.ts'
import { dataOf, type EndpointData, type EndpointFields } from '../domain/calls/extraction.ts'
import type { RecordingPlace } from '../domain/calls/recordings.ts'
import type { CustomData, Report } from '../domain/calls/report.ts'
import type { Endpoint, WebhookEventType } from '../domain/webhooks/endpoint.ts'
import type { OutboxEvent } from '../domain/webhooks/outbox.ts'
import type { EventPayloads, ReportedCall } from '../domain/webhooks/payloads.ts'
import { readAttempts, readLastTurns } from './call-entries.ts'
import { ofCallId } from './call-rows.ts'
import { lastOfSession } from './callbacks.ts'
import type { Tx } from './connect.ts'
import { type Receivers, readReceivers, readReport } from './report-rows.ts'
import { enabledEndpoints, matchingEndpoints } from './webhook-endpoints.ts'
import { enqueue, giveOwnBody } from './webhook-outbox.ts'
import { hasOpenStream } from './webhook-streams.ts'

export type EventSource = {
  payloads: EventPayloads
  /** A link to a recording that is ready, for a receiver without a key. It is good for seven days. */
  recordingUrl: (place: RecordingPlace) => Promise<string>
}

type Named = { id: string; name: string }

const noReceivers: { receivers: Receivers; endpointData: EndpointData } = {
  receivers: { report: [], analysis: [] },
  endpointData: {},
}
/** Streams ask for no fields. With endpoints they get the body of the first of these. */
const forStreams = { text: '{}', members: [] }
/** Turns beyond it do not fit into an event. */
const turnsBytesMax = 4 * 1024 * 1024

export class CallWebhooks {
  readonly #eventId: () => string
  #served: EventSource | null = null

  /** `eventId` makes a UUIDv7. */
  constructor(eventId: () => string) {
    this.#eventId = eventId
  }

  /** Before it, a change of which an endpoint must learn fails. */
  serve(source: EventSource): void {
    this.#served = source
  }

  get #source(): EventSource {
    if (this.#served === null) throw new Error('no event can be made in this process')
    return this.#served
  }

  /** The endpoints that get the report and the analysis of a call that ends now, with the fields that they ask for. */
  async receivers(tx: Tx, call: Call): Promise<{ receivers: Receivers | null; fields: EndpointFields[] }> {
    const report = await matching(tx, call, 'call.report')
    const analysis = await matching(tx, call, 'call.analysis')
    if (report.length + analysis.length === 0) return { receivers: null, fields: [] }
    const all = new Map([...report, ...analysis].map((endpoint) => [endpoint.id, endpoint]))
    return {
      receivers: { report: report.map(({ id }) => id), analysis: analysis.map(({ id }) => id) },
      fields: [...all.values()].map(({ id, extractionFields }) => ({ endpointId: id, fields: extractionFields })),
    }
  }

  async fields(tx: Tx, tenant: Tenant, callId: string): Promise<EndpointFields[]> {
    const stored = await readReceivers(tx, tenant, callId)
    if (stored === null) return []
    const endpoints = await enabledEndpoints(tx, tenant, idsOf(stored.receivers))
    return endpoints.map(({ id, extractionFields }) => ({ endpointId: id, fields: extractionFields }))
  }

  /** `events` have just been stored with the call. */
  async changed(tx: Tx, call: Call, events: readonly CallEvent[], nowMs: number): Promise<void> {
    await this.#statuses(
      tx,
      call,
      events.filter(({ type }) => type.startsWith('call.')),
      nowMs,
    )
    // The report of a call that was never connected is complete at once.
    if (events.some(({ type }) => type === 'analysis.heuristic')) await this.analysed(tx, call, true, nowMs)
    const ended = events.find(({ type }) => type === 'recording.ready' || type === 'recording.failed')
    if (ended) await this.#recorded(tx, call, ended, nowMs)
  }

  /** The report has a new analysis. `isFirst`: it was pending before. */
  async analysed(tx: Tx, call: Call, isFirst: boolean, nowMs: number): Promise<void> {
    const isStreamed = await hasOpenStream(tx, call)
    const stored = await readReceivers(tx, call, call.id)
    if (stored === null && !isStreamed) return
    const { receivers, endpointData } = stored ?? noReceivers
    const endpoints = await enabledEndpoints(tx, call, isFirst ? idsOf(receivers) : receivers.report)
    const report = endpoints.length > 0 || isStreamed ? await readReport(tx, call, call.id) : null
    if (report === null) return
    const { payloads } = this.#source
    const ofReport = endpoints.filter(({ id }) => receivers.report.includes(id))
    if (ofReport.length > 0 || isStreamed) {
      const reported = await this.#reported(tx, call, report)
      const bodyOf = (customData: CustomData) => payloads.report(reported, customData, nowMs)
      const event = this.#event(call, 'call.report', report.version, nowMs)
      await this.#fire(tx, call, { ...event, report, endpointData, bodyOf }, ofReport)
    }
    const ofAnalysis = endpoints.filter(({ id }) => receivers.analysis.includes(id))
    if (!isFirst || (ofAnalysis.length === 0 && !isStreamed)) return
    const bodyOf = (customData: CustomData) => payloads.analysis(call, report, customData, nowMs)
    const event = this.#event(call, 'call.analysis', null, nowMs)
    await this.#fire(tx, call, { ...event, report, endpointData, bodyOf }, ofAnalysis)
  }

  async #statuses(tx: Tx, call: Call, events: readonly CallEvent[], nowMs: number): Promise<void> {
    if (events.length === 0) return
    const endpoints = await matching(tx, call, 'call.status')
    if (!(await isWanted(tx, call, endpoints))) return
    for (const event of events) {
      const body = this.#source.payloads.status(call, event, nowMs)
      // The event of the call and the one that is sent have one id.
      const made = { ...this.#event(call, 'call.status', null, nowMs), id: event.id, occurredAtMs: event.occurredAtMs }
      await enqueue(tx, call, { ...made, body }, endpoints)
    }
  }

  /** A report that was made before the recording was ready gets a new version. A pending one is made later. */
  async #recorded(tx: Tx, call: Call, { type, occurredAtMs }: CallEvent, nowMs: number): Promise<void> {
    const endpoints = await matching(tx, call, 'call.recording')
    if (await isWanted(tx, call, endpoints)) {
      const body = this.#source.payloads.recording(call, await this.#recordingUrl(call), nowMs)
      const event = { ...this.#event(call, 'call.recording', null, nowMs), occurredAtMs }
      await enqueue(tx, call, { ...event, body }, endpoints)
    }
    if (type === 'recording.failed') return
    const { count } = await tx`
      update call_reports set version = version + 1, updated_at = ${new Date(nowMs)}
      ${ofCallId(tx, call, call.id)} and analysis_status <> 'pending'`
    if (count > 0) await this.analysed(tx, call, false, nowMs)
  }

  async #reported(tx: Tx, call: Call, report: Report): Promise<ReportedCall> {
    const { turns, total } = await readLastTurns(tx, call, call.id, turnsBytesMax)
    return {
      call,
      report,
      turns,
      turnsTotal: total,
      costs: costsOf(await readAttempts(tx, call, call.id), call.test),
      callback: await lastOfSession(tx, call, call.id),
      recordingUrl: await this.#recordingUrl(call),
    }
  }

  async #recordingUrl({ organizationId, test, id, recordingStatus }: Call): Promise<string | null> {
    return recordingStatus === 'ready' ? this.#source.recordingUrl({ organizationId, test, id }) : null
  }

  #event(call: Call, type: WebhookEventType, version: number | null, nowMs: number): Omit<OutboxEvent, 'body'> {
    const { id: callId, agentId, webhookTags: tags } = call
    return { id: this.#eventId(), type, callId, agentId, tags, version, occurredAtMs: nowMs, createdAtMs: nowMs }
  }

  /** One event for all endpoints. Those with extraction fields get bodies that have these. */
  async #fire(
    tx: Tx,
    call: Call,
    { report, endpointData, bodyOf, ...event }: FiredEvent,
    endpoints: readonly Named[],
  ): Promise<void> {
    const { customData } = report
    const dataFor = (id: string) => dataOf(id, { customData, endpointData }, call.pipeline.extractionFields)
    const [base = forStreams, ...others] = byText(endpoints, ({ id }) => JSON.stringify(dataFor(id)))
    await enqueue(tx, call, { ...event, body: bodyOf(JSON.parse(base.text) as CustomData) }, endpoints)
    for (const { text, members } of others) {
      const ids = members.map(({ id }) => id)
      await giveOwnBody(tx, call, event.id, ids, bodyOf(JSON.parse(text) as CustomData))
    }
  }
}

/** The endpoint that is asked before the call begins. Two never match one call. */
export async function preCallEndpoint(tx: Tx, call: Call): Promise<Endpoint | null> {
  return (await matching(tx, call, 'call.pre_call'))[0] ?? null
}

type FiredEvent = Omit<OutboxEvent, 'body'> & {
  report: Report
  endpointData: EndpointData
  bodyOf: (customData: CustomData) => Uint8Array
}

/** An open stream counts as an endpoint that matches. */
async function isWanted(tx: Tx, call: Call, endpoints: readonly Named[]): Promise<boolean> {
  return endpoints.length > 0 || hasOpenStream(tx, call)
}

function matching(tx: Tx, call: Call, type: WebhookEventType): Promise<Endpoint[]> {
  return matchingEndpoints(tx, call, { type, agentId: call.agentId, tags: call.webhookTags })
}

function idsOf({ report, analysis }: Receivers): string[] {
  return [...new Set([...report, ...analysis])]
}

function byText<Member>(members: readonly Member[], textOf: (member: Member) => string) {
  const groups = new Map<string, Member[]>()
  for (const member of members) {
    const text = textOf(member)
    groups.set(text, [...(groups.get(text) ?? []), member])
  }
  return [...groups].map(([text, ofText]) => ({ text, members: ofText }))
}
