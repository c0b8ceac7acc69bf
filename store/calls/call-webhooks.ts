/**
 * Stores calls' webhook events in the same transaction as the change to the call. So the event and the change are both
 * stored, or neither is. The call's row is locked, so a call's events follow one another.
 */
import { costsOf } from '../../domain/calls/costs.ts'
import type { EndpointFields } from '../../domain/calls/extraction.ts'
import type { EventPayloads, ReportedCall } from '../../domain/calls/payloads.ts'
import type { Report } from '../../domain/calls/report.ts'
import {
  type AddressedEvent,
  type Audience,
  type EventMaker,
  endpointFields,
  isRecordingEnd,
  isStatus,
  needsReported,
  type ReportReceivers,
  receiverIds,
  recordingEvents,
  reportEvents,
  type StoredReport,
  statusEvents,
} from '../../domain/calls/webhook-events.ts'
import type { Call, CallEvent } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { RecordingPlace } from '../../domain/records/recording.ts'
import type { Endpoint, WebhookEventType } from '../../domain/records/webhook-endpoint.ts'
import type { Tx } from '../postgres/connect.ts'
import { enabledEndpoints, matchingEndpoints } from '../webhooks/webhook-endpoints.ts'
import { enqueue, giveOwnBody } from '../webhooks/webhook-outbox.ts'
import { hasOpenStream } from '../webhooks/webhook-streams.ts'
import { readAttempts, readLastTurns } from './call-entries.ts'
import { ofCallId } from './call-rows.ts'
import { lastOfSession } from './callbacks.ts'
import { readLegUses } from './leg-charges.ts'
import { type ReportRow, readStoredReport, reportColumns, storedReportOf } from './report-rows.ts'

export type EventSource = {
  payloads: EventPayloads
  /** Makes a link to a ready recording, for a receiver without an API key. The link is valid for seven days. */
  recordingUrl: (place: RecordingPlace) => Promise<string>
}

export type ReadAudience = () => Promise<Audience>

/**
 * The maximum number of bytes for turns in an event. If a call's turns have more bytes, the event contains only the
 * last turns.
 */
const turnsBytesMax = 4 * 1024 * 1024

export class CallWebhooks {
  readonly #eventId: () => string
  readonly #events: EventSource | null

  /**
   * `eventId` makes a UUIDv7. If `events` is null, a change throws as soon as an endpoint must receive an event for it.
   */
  constructor(eventId: () => string, events: EventSource | null) {
    this.#eventId = eventId
    this.#events = events
  }

  get #source(): EventSource {
    if (this.#events === null) throw new Error('no event can be made in this process')
    return this.#events
  }

  /**
   * Returns a function to read the call's audience: the matching endpoints, and whether a stream is open. The function
   * reads once in a transaction, and only if a change needs it.
   */
  audience(tx: Tx, call: Call): ReadAudience {
    let audience: Promise<Audience> | null = null
    return () => {
      audience ??= readAudience(tx, call)
      return audience
    }
  }

  /** Queues webhooks for the call events in `events`. Call this after the call events were stored. */
  async changed(
    tx: Tx,
    call: Call,
    events: readonly CallEvent[],
    audience: ReadAudience,
    nowMs: number,
  ): Promise<void> {
    const statuses = events.filter(isStatus)
    if (statuses.length > 0) {
      const matched = await audience()
      await this.#enqueue(tx, call, statusEvents(this.#maker(nowMs), call, statuses, matched))
    }
    // A call that never connected gets its findings from rules alone (`analysis.heuristic`), so its call report is
    // complete now.
    if (events.some(({ type }) => type === 'analysis.heuristic')) {
      const stored = await readStoredReport(tx, call, call.id)
      if (stored !== null) await this.analysed(tx, call, stored, true, nowMs)
    }
    const ended = events.find(isRecordingEnd)
    if (ended) await this.#recorded(tx, call, ended, await audience(), nowMs)
  }

  /**
   * Stores webhook events for a call report with a new analysis or a recording. `isFirst`: the analysis was pending
   * before.
   */
  async analysed(tx: Tx, call: Call, stored: StoredReport, isFirst: boolean, nowMs: number): Promise<void> {
    const [endpoints, isStreamed] = await Promise.all([
      enabledEndpoints(tx, call, receiverIds(stored.receivers, isFirst)),
      hasOpenStream(tx, call),
    ])
    const audience = { endpoints, isStreamed }
    const reported = needsReported(stored, audience) ? await this.#reported(tx, call, stored.report, nowMs) : null
    await this.#enqueue(tx, call, reportEvents(this.#maker(nowMs), stored, { call, reported, isFirst }, audience))
  }

  /**
   * Stores webhook events for a recording. If the call report is complete already, it gets a new version with the
   * recording. A pending report gets the recording when it is completed.
   */
  async #recorded(tx: Tx, call: Call, ended: CallEvent, audience: Audience, nowMs: number): Promise<void> {
    const url = () => this.#recordingUrl(call)
    await this.#enqueue(tx, call, await recordingEvents(this.#maker(nowMs), call, ended, url, audience))
    if (ended.type === 'recording.failed') return
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

  /**
   * Reads the event source only when a payload is needed. So a process without a source can still change a call without
   * receivers.
   */
  #maker(nowMs: number): EventMaker {
    const source = () => this.#source
    return {
      eventId: this.#eventId,
      get payloads() {
        return source().payloads
      },
      nowMs,
    }
  }

  async #enqueue(tx: Tx, tenant: Tenant, events: readonly AddressedEvent[]): Promise<void> {
    for (const { event, endpoints, otherBodies } of events) {
      await enqueue(tx, tenant, event, endpoints)
      for (const { endpointIds, body } of otherBodies) await giveOwnBody(tx, tenant, event.id, endpointIds, body)
    }
  }
}

/** Finds the fields to extract from the call, as the receivers of its call report and its analysis want them. */
export async function extractionFieldsOf(
  tx: Tx,
  tenant: Tenant,
  receivers: ReportReceivers,
): Promise<EndpointFields[]> {
  return endpointFields(await enabledEndpoints(tx, tenant, receiverIds(receivers)))
}

/** Finds the endpoint for the call's pre-call event. Two endpoints never match one call. */
export async function preCallEndpoint(tx: Tx, call: Call): Promise<Endpoint | null> {
  return (await matchingEndpoints(tx, call, ['call.pre_call'], call))[0] ?? null
}

const typesOfChanges: readonly WebhookEventType[] = ['call.status', 'call.report', 'call.analysis', 'call.recording']

async function readAudience(tx: Tx, call: Call): Promise<Audience> {
  const [endpoints, isStreamed] = await Promise.all([
    matchingEndpoints(tx, call, typesOfChanges, call),
    hasOpenStream(tx, call),
  ])
  return { endpoints, isStreamed }
}
