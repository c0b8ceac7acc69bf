/**
 * Spans for OpenTelemetry. A span is created when its work has ended, with ids planned before: the SDK asks
 * `PlannedIds` for them. So a request to a provider can carry the id of its future span, a span's start time may become
 * known late, and unfinished work holds no span.
 */
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  type EndedSpan,
  readTraceparent,
  readTracestate,
  type Trace,
  type TraceHeaders,
  writeHeaders,
} from '../engine/trace-context.ts'
import { loadTracingSdk } from '../optional.ts'
import { ConfigError, type Environment } from '../process/config.ts'

export type Tracing = {
  /** Begins a request's trace. Each argument is '' if the client sent no such header. */
  request(traceparent: string, tracestate: string): Trace
  /** Returns a call's trace. Its id is the call's id. */
  call(callId: string): Trace
  /** Begins a new trace, linked to the call `callId` if it is given. */
  begin(callId: string | null): Trace
  close(): Promise<void>
}

/**
 * Throws ConfigError if an exporter's endpoint is not an http(s) URL: the exporter would fail silently with each span.
 */
export function checkTracing(env: Environment): void {
  const wrong = endpointsIn(env).find((name) => !/^https?:$/.test(schemeOf(env[name] ?? '')))
  if (wrong !== undefined) throw new ConfigError(`${wrong}: must be an http(s) URL, for example http://localhost:4318`)
}

type TraceClock = { nowMs(): number; monotonicMs(): number }

/**
 * Starts the SDK if the environment names an endpoint for spans (OTEL_EXPORTER_OTLP_…). Otherwise returns null and does
 * not even load the SDK.
 */
export async function createTracing(env: Environment, clock: TraceClock): Promise<Tracing | null> {
  if (endpointsIn(env).length === 0) return null
  const sdk = await loadTracingSdk()
  const named = sdk.resourceFromAttributes({ 'service.name': env['OTEL_SERVICE_NAME'] || 'parley' })
  const ids = new PlannedIds(new sdk.RandomIdGenerator())
  // The exporter, the sampler and the processor (with its bounded queue) read the other OTEL_* variables
  // (OpenTelemetry, environment variable specification).
  const provider = new sdk.NodeTracerProvider({
    resource: named.merge(sdk.detectResources({ detectors: [sdk.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new sdk.OTLPTraceExporter())],
    idGenerator: ids,
  })
  const recorder = { tracer: provider.getTracer('parley'), ids, clock }
  return {
    request: (traceparent, tracestate) => requestTrace(recorder, traceparent, tracestate),
    call: (callId) => rootTrace(recorder, callIdsOf(callId) ?? ids.next(), null),
    begin: (callId) => rootTrace(recorder, ids.next(), callId === null ? null : callIdsOf(callId)),
    close: () => provider.shutdown(),
  }
}

function endpointsIn(env: Environment): string[] {
  if (env['OTEL_SDK_DISABLED'] === 'true') return []
  return ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].filter((name) => env[name])
}

function schemeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}

type Ids = { traceId: string; spanId: string }
type IdGenerator = { generateTraceId(): string; generateSpanId(): string }

/** Passes the current span's planned ids to the SDK. */
class PlannedIds implements IdGenerator {
  readonly #random: IdGenerator
  planned: Ids = { traceId: '', spanId: '' }

  constructor(random: IdGenerator) {
    this.#random = random
  }

  next(traceId = this.#random.generateTraceId()): Ids {
    return { traceId, spanId: this.#random.generateSpanId() }
  }

  generateTraceId(): string {
    return this.planned.traceId
  }

  generateSpanId(): string {
    return this.planned.spanId
  }
}

/**
 * Returns the ids for a call's trace. A call's id is a UUID and has 16 bytes, like a trace id. Its second half is
 * random (RFC 9562, 5.7) and becomes the span id. Null if the id is not a UUID.
 */
function callIdsOf(callId: string): Ids | null {
  const traceId = callId.replaceAll('-', '').toLowerCase()
  return /^[\da-f]{32}$/.test(traceId) ? { traceId, spanId: traceId.slice(16) } : null
}

type Recorder = { tracer: Tracer; ids: PlannedIds; clock: TraceClock }

function requestTrace(recorder: Recorder, traceparent: string, tracestate: string): Trace {
  const parent = traceparent === '' ? null : readTraceparent(traceparent)
  if (parent === null) return rootTrace(recorder, recorder.ids.next(), null)
  const state = readTracestate(tracestate)
  const { traceId, spanId, isSampled } = parent
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  const remote = { traceId, spanId, traceFlags, isRemote: true, ...(state && { traceState: createTraceState(state) }) }
  return new TracePlace(recorder, recorder.ids.next(traceId), { parent: remote, link: null, tracestate: state })
}

function rootTrace(recorder: Recorder, ids: Ids, link: Ids | null): Trace {
  const linked = link && { ...link, traceFlags: TraceFlags.SAMPLED }
  return new TracePlace(recorder, ids, { parent: null, link: linked, tracestate: '' })
}

type Origin = { parent: SpanContext | null; link: SpanContext | null; tracestate: string }

class TracePlace implements Trace {
  readonly headers: TraceHeaders
  readonly logFields: { traceId: string; spanId: string }
  readonly #recorder: Recorder
  readonly #origin: Origin
  readonly #isSampled: boolean

  /**
   * `isSampled` is the trace's sampling decision. It is absent for the trace's first span in this process, and then the
   * sampler decides.
   */
  constructor(recorder: Recorder, ids: Ids, origin: Origin, isSampled?: boolean) {
    this.#recorder = recorder
    this.#origin = origin
    this.logFields = ids
    this.#isSampled = isSampled ?? this.#decide()
    this.headers = writeHeaders({ ...ids, isSampled: this.#isSampled }, origin.tracestate)
  }

  below(): Trace {
    const { parent, tracestate } = this.#origin
    const traceFlags = this.#isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
    const here = { ...this.logFields, traceFlags, ...(parent?.traceState && { traceState: parent.traceState }) }
    const ids = this.#recorder.ids.next(here.traceId)
    return new TracePlace(this.#recorder, ids, { parent: here, link: null, tracestate }, this.#isSampled)
  }

  record({ name, kind, startedMs, endedMs, attributes, failure }: EndedSpan): void {
    if (!this.#isSampled) return
    const { tracer, ids, clock } = this.#recorder
    const nowMs = clock.monotonicMs()
    const { link } = this.#origin
    const wallMs = clock.nowMs() - nowMs
    ids.planned = this.logFields
    const span = tracer.startSpan(
      name,
      { kind: kinds[kind], attributes, startTime: wallMs + startedMs, links: link ? [{ context: link }] : [] },
      this.#context(),
    )
    if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR })
    span.end(wallMs + Math.max(startedMs, endedMs ?? nowMs))
  }

  /**
   * Asks the sampler for its decision. The SDK calls the sampler only when a span starts, so this starts a span and
   * drops it.
   */
  #decide(): boolean {
    const { tracer, ids } = this.#recorder
    ids.planned = this.logFields
    return (tracer.startSpan('', {}, this.#context()).spanContext().traceFlags & TraceFlags.SAMPLED) !== 0
  }

  #context(): Context {
    const { parent } = this.#origin
    return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
  }
}

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER }
