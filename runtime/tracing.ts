import { context, propagation, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { ConfigError, type Environment } from './config.ts'
import { loadTracingSdk } from './optional.ts'

/** One SERVER span for each request. No content, key or organization becomes an attribute. */
export type Tracing = {
  /** `operation` is the operationId, `route` the OpenAPI template. The returned function ends the span. */
  start(operation: string, method: string, route: string, traceparent: string): (status: number) => void
  close(): Promise<void>
}

/** Throws ConfigError for an address that is not an http(s) URL: the exporter would fail silently with each span. */
export function checkTracing(env: Environment): void {
  const wrong = endpointsIn(env).find((name) => !/^https?:$/.test(schemeOf(env[name] ?? '')))
  if (wrong !== undefined) throw new ConfigError(`${wrong}: must be an http(s) URL, for example http://localhost:4318`)
}

/** Null unless the environment has an address for spans; the SDK is not even loaded then. */
export async function createTracing(env: Environment): Promise<Tracing | null> {
  if (endpointsIn(env).length === 0) return null
  const sdk = await loadTracingSdk()
  // The exporter and the sampler read the other OTEL_* variables (OpenTelemetry, environment variable specification).
  const provider = new sdk.NodeTracerProvider({
    resource: sdk.resourceFromAttributes({ 'service.name': env['OTEL_SERVICE_NAME'] ?? 'parley' }),
    spanProcessors: [new sdk.BatchSpanProcessor(new sdk.OTLPTraceExporter())],
  })
  provider.register()
  const tracer = trace.getTracer('parley')
  return {
    start: (operation, method, route, traceparent) => serverSpan(tracer, operation, method, route, traceparent),
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

function serverSpan(
  tracer: Tracer,
  operation: string,
  method: string,
  route: string,
  traceparent: string,
): (status: number) => void {
  const parent = traceparent ? propagation.extract(context.active(), { traceparent }) : context.active()
  const attributes = { 'http.request.method': method.toUpperCase(), 'http.route': route, 'parley.operation': operation }
  const span = tracer.startSpan(`${method.toUpperCase()} ${route}`, { kind: SpanKind.SERVER, attributes }, parent)
  return (status) => end(span, status)
}

function end(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
