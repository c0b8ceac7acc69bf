/**
 * Makes the events of calls for the endpoints that match, in the transaction that changes the call: so an event is there
 * exactly if the change is. The row of the call is locked, so that the events of a call follow one another.
 */
import { costsOf } from '../../domain/calls/costs.ts'
import { dataOf, type EndpointData, type EndpointFields } from '../../domain/calls/extraction.ts'
import type { EventPayloads, ReportedCall } from '../../domain/calls/payloads.ts'
import type { CustomData, Report } from '../../domain/calls/report.ts'
import type { Call, CallEvent } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { RecordingPlace } from '../../domain/records/recording.ts'
import type { Endpoint, WebhookEventType } from '../../domain/records/webhook-endpoint.ts'
import type { OutboxEvent } from '../../domain/webhooks/outbox.ts'
import type { Tx } from '../postgres/connect.ts'
import { enabledEndpoints, matchingEndpoints } from '../webhooks/webhook-endpoints.ts'
import { enqueue, giveOwnBody } from '../webhooks/webhook-outbox.ts'
import { hasOpenStream } from '../webhooks/webhook-streams.ts'
import { readAttempts, readLastTurns } from './call-entries.ts'
import { ofCallId } from './call-rows.ts'
import { lastOfSession } from './callbacks.ts'
import { readLegUses } from './leg-charges.ts'
import {
  type Receivers,
  type ReportRow,
  readStoredReport,
  reportColumns,
  type StoredReport,
  storedReportOf,
} from './report-rows.ts'

export type EventSource = {
  payloads: EventPayloads
  /** A link to a recording that is ready, for a receiver without a key. It is good for seven days. */
  recordingUrl: (place: RecordingPlace) => Promise<string>
}

/** The endpoints that get some event of a change. An open stream counts as an endpoint that matches. */
type Matched = { endpoints: readonly Endpoint[]; isStreamed: boolean }
export type Matching = () => Promise<Matched>

type Named = { id: string; name: string }

/** Streams ask for no fields. With endpoints they get the body of the first of these. */
const forStreams = { text: '{}', members: [] }
/** Turns beyond it do not fit into an event. */
const turnsBytesMax = 4 * 1024 * 1024

export class CallWebhooks {
  readonly #eventId: () => string
  readonly #events: EventSource | null

  /** `eventId` makes a UUIDv7. Without `events` a change of which an endpoint must learn fails. */
  constructor(eventId: () => string, events: EventSource | null) {
    this.#eventId = eventId
    this.#events = events
  }

  get #source(): EventSource {
    if (this.#events === null) throw new Error('no event can be made in this process')
    return this.#events
  }

  /** Asks for what matches a call, once for a transaction, and only where one of its changes needs it. */
  matching(tx: Tx, call: Call): Matching {
    let matched: Promise<Matched> | null = null
    return () => {
      matched ??= readMatched(tx, call)
      return matched
    }
  }

  /** The endpoints that get the report and the analysis of a call that ends now, with the fields that they ask for. */
  receivers({ endpoints }: Matched): { receivers: Receivers | null; fields: EndpointFields[] } {
    const report = endpoints.filter(({ events }) => events.includes('call.report'))
    const analysis = endpoints.filter(({ events }) => events.includes('call.analysis'))
    if (report.length + analysis.length === 0) return { receivers: null, fields: [] }
    return {
      receivers: { report: report.map(({ id }) => id), analysis: analysis.map(({ id }) => id) },
      fields: fieldsOf(endpoints.filter((endpoint) => report.includes(endpoint) || analysis.includes(endpoint))),
    }
  }

  /** `events` have just been stored with the call. */
  async changed(tx: Tx, call: Call, events: readonly CallEvent[], matching: Matching, nowMs: number): Promise<void> {
    const statuses = events.filter(({ type }) => /^(call|transfer)\./.test(type))
    if (statuses.length > 0) await this.#statuses(tx, call, statuses, await matching(), nowMs)
    // The report of a call that was never connected is complete at once.
    if (events.some(({ type }) => type === 'analysis.heuristic')) {
      const stored = await readStoredReport(tx, call, call.id)
      if (stored !== null) await this.analysed(tx, call, stored, true, nowMs)
    }
    const ended = events.find(({ type }) => type === 'recording.ready' || type === 'recording.failed')
    if (ended) await this.#recorded(tx, call, ended, await matching(), nowMs)
  }

  /** The report has a new analysis, or a recording. `isFirst`: it was pending before. */
  async analysed(tx: Tx, call: Call, stored: StoredReport, isFirst: boolean, nowMs: number): Promise<void> {
    const { report, receivers, endpointData } = stored
    const wanted = isFirst ? idsOf(receivers) : receivers.report
    const [endpoints, isStreamed] = await Promise.all([enabledEndpoints(tx, call, wanted), hasOpenStream(tx, call)])
    if (endpoints.length === 0 && !isStreamed) return
    const { payloads } = this.#source
    const ofReport = endpoints.filter(({ id }) => receivers.report.includes(id))
    if (ofReport.length > 0 || isStreamed) {
      const reported = await this.#reported(tx, call, report, nowMs)
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

  async #statuses(
    tx: Tx,
    call: Call,
    events: readonly CallEvent[],
    { endpoints, isStreamed }: Matched,
    nowMs: number,
  ): Promise<void> {
    const wanting = endpoints.filter((endpoint) => endpoint.events.includes('call.status'))
    if (wanting.length === 0 && !isStreamed) return
    for (const event of events) {
      const body = this.#source.payloads.status(call, event, nowMs)
      // The event of the call and the one that is sent have one id.
      const made = { ...this.#event(call, 'call.status', null, nowMs), id: event.id, occurredAtMs: event.occurredAtMs }
      await enqueue(tx, call, { ...made, body }, wanting)
    }
  }

  /** A report that was made before the recording was ready gets a new version. A pending one is made later. */
  async #recorded(
    tx: Tx,
    call: Call,
    { type, occurredAtMs }: CallEvent,
    { endpoints, isStreamed }: Matched,
    nowMs: number,
  ): Promise<void> {
    const wanting = endpoints.filter(({ events }) => events.includes('call.recording'))
    if (wanting.length > 0 || isStreamed) {
      const body = this.#source.payloads.recording(call, await this.#recordingUrl(call), nowMs)
      const event = { ...this.#event(call, 'call.recording', null, nowMs), occurredAtMs }
      await enqueue(tx, call, { ...event, body }, wanting)
    }
    if (type === 'recording.failed') return
    const [row] = await tx<ReportRow[]>`
      update call_reports set version = version + 1, updated_at = ${new Date(nowMs)}
      ${ofCallId(tx, call, call.id)} and analysis_status <> 'pending' returning ${reportColumns(tx)}`
    if (row) await this.analysed(tx, call, storedReportOf(row), false, nowMs)
  }

  async #reported(tx: Tx, call: Call, report: Report, nowMs: number): Promise<ReportedCall> {
    const [{ turns, total: turnsTotal }, attempts, legUses, callback] = await Promise.all([
      readLastTurns(tx, call, call.id, turnsBytesMax),
      readAttempts(tx, call, call.id),
      readLegUses(tx, call, call.id, nowMs),
      lastOfSession(tx, call, call.id),
    ])
    const recordingUrl = await this.#recordingUrl(call)
    return { call, report, turns, turnsTotal, costs: costsOf(attempts, legUses, call.test), callback, recordingUrl }
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

/** The fields that those who receive a report and its analysis ask for. */
export async function extractionFieldsOf(tx: Tx, tenant: Tenant, receivers: Receivers): Promise<EndpointFields[]> {
  return fieldsOf(await enabledEndpoints(tx, tenant, idsOf(receivers)))
}

function fieldsOf(endpoints: readonly Endpoint[]): EndpointFields[] {
  return endpoints.map(({ id, extractionFields }) => ({ endpointId: id, fields: extractionFields }))
}

/** The endpoint that is asked before the call begins. Two never match one call. */
export async function preCallEndpoint(tx: Tx, call: Call): Promise<Endpoint | null> {
  return (await matchingEndpoints(tx, call, ['call.pre_call'], call))[0] ?? null
}

type FiredEvent = Omit<OutboxEvent, 'body'> & {
  report: Report
  endpointData: EndpointData
  bodyOf: (customData: CustomData) => Uint8Array
}

const typesOfChanges: readonly WebhookEventType[] = ['call.status', 'call.report', 'call.analysis', 'call.recording']

async function readMatched(tx: Tx, call: Call): Promise<Matched> {
  const [endpoints, isStreamed] = await Promise.all([
    matchingEndpoints(tx, call, typesOfChanges, call),
    hasOpenStream(tx, call),
  ])
  return { endpoints, isStreamed }
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
