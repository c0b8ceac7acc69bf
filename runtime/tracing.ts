import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ConfigError, type Environment } from './config.ts'
import type { RequestTracing, TracedRequest } from './engine/options.ts'
import { loadTracingSdk } from './optional.ts'

/** One attempt at a provider. `outcome` is `succeeded`, or the class of its error. */
type EndedAttempt = Record<'requestId' | 'attemptId' | 'stage' | 'provider' | 'model' | 'outcome', string> & {
  durationMs: number
  quantities: readonly { unit: string; amount: number }[]
}

type AttemptTracing = { attempt(ended: EndedAttempt): void }

/**
 * One SERVER span for each request, and in it one CLIENT span for each attempt at a provider. No content, key or organization
 * becomes an attribute.
 */
export type Tracing = RequestTracing & AttemptTracing & { close(): Promise<void> }

/** Throws ConfigError for an address that is not an http(s) URL: the exporter would fail silently with each span. */
export function checkTracing(env: Environment): void {
  const wrong = endpointsIn(env).find((name) => !/^https?:$/.test(schemeOf(env[name] ?? '')))
  if (wrong !== undefined) throw new ConfigError(`${wrong}: must be an http(s) URL, for example http://localhost:4318`)
}

/** Null unless the environment has an address for spans; the SDK is not even loaded then. */
export async function createTracing(env: Environment): Promise<Tracing | null> {
  if (endpointsIn(env).length === 0) return null
  const sdk = await loadTracingSdk()
  const named = sdk.resourceFromAttributes({ 'service.name': env['OTEL_SERVICE_NAME'] || 'parley' })
  // The exporter and the sampler read the other OTEL_* variables (OpenTelemetry, environment variable specification).
  const provider = new sdk.NodeTracerProvider({
    resource: named.merge(sdk.detectResources({ detectors: [sdk.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new sdk.OTLPTraceExporter())],
  })
  provider.register()
  return { ...spansOf(trace.getTracer('parley')), close: () => provider.shutdown() }
}

function endpointsIn(env: Environment): string[] {
  if (env['OTEL_SDK_DISABLED'] === 'true') return []
  return ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].filter((name) => env[name])
}

function schemeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}

const overMax = 1_000

function spansOf(tracer: Tracer): RequestTracing & AttemptTracing {
  /**
   * The requests under way, and the newest of those that are over: an attempt may end after a client that left. An attempt
   * of any other, as that of a turn of a call, begins a trace.
   */
  const requests = new Map<string, Context>()
  const over: string[] = []
  return {
    start(request) {
      const span = serverSpan(tracer, request)
      requests.set(request.requestId, trace.setSpan(context.active(), span))
      return (status) => {
        over.push(request.requestId)
        if (over.length > overMax) requests.delete(over.shift() ?? '')
        end(span, status)
      }
    },
    attempt: (ended) => attemptSpan(tracer, ended, requests.get(ended.requestId) ?? context.active()),
  }
}

function serverSpan(tracer: Tracer, { operation, method, route, traceparent }: TracedRequest): Span {
  const parent = traceparent ? propagation.extract(context.active(), { traceparent }) : context.active()
  const attributes = { 'http.request.method': method.toUpperCase(), 'http.route': route, 'parley.operation': operation }
  return tracer.startSpan(`${method.toUpperCase()} ${route}`, { kind: SpanKind.SERVER, attributes }, parent)
}

/** The names of the operations and the counts of tokens are those of the conventions for generative AI of OpenTelemetry. */
const operationOfStage: Readonly<Record<string, string>> = { llm: 'chat', tts: 'text_to_speech', stt: 'speech_to_text' }
const attributeOfUnit: Readonly<Record<string, string>> = {
  input_tokens: 'gen_ai.usage.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
}

function attemptSpan(tracer: Tracer, ended: EndedAttempt, parent: Context): void {
  const { stage, provider, model, outcome, durationMs, attemptId, requestId, quantities } = ended
  const operation = operationOfStage[stage] ?? stage
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'parley.attempt.id': attemptId,
    'parley.request.id': requestId,
    'parley.outcome': outcome,
  }
  for (const { unit, amount } of quantities) attributes[attributeOfUnit[unit] ?? `parley.usage.${unit}`] = amount
  const endMs = Date.now()
  const startTime = endMs - durationMs
  const span = tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, attributes, startTime }, parent)
  if (outcome !== 'succeeded') {
    span.setAttribute('error.type', outcome)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end(endMs)
}

function end(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
