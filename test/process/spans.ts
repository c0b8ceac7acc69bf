/**
 * Receives traces locally and prints each as a tree, so a developer sees a call's spans without an account or a
 * collector. A server sends a trace's last spans up to five seconds after the trace's end.
 */
import { type SpanAtSink, startSpanSink, treeOf } from './span-sink.ts'

/** The usual port for collectors with OTLP over HTTP. */
const port = Number(process.env['PORT'] ?? 4318)
const lookMs = 500
/**
 * A trace is printed after this time without a new span, and again if more spans come. It is longer than 5 s, because a
 * server sends its spans every 5 s.
 */
const quietMs = Number(process.env['QUIET_MS'] ?? 6_000)
/** If the program has received more traces than this, it ends. */
const tracesMax = 1_000

type Seen = { count: number; atMs: number; isPrinted: boolean }
const seen = new Map<string, Seen>()

const sink = await startSpanSink(port)
console.log(`spans are taken at ${sink.url}; start Parley in another terminal:\n`)
console.log(`  OTEL_EXPORTER_OTLP_ENDPOINT=${sink.url} make run\n`)
setInterval(look, lookMs)

function look(): void {
  for (const [traceId, spans] of byTrace(sink.spans())) {
    const last = seen.get(traceId)
    if (last?.count !== spans.length) seen.set(traceId, { count: spans.length, atMs: Date.now(), isPrinted: false })
    else if (!last.isPrinted && Date.now() - last.atMs >= quietMs) print(traceId, spans, last)
  }
}

function print(traceId: string, spans: SpanAtSink[], trace: Seen): void {
  trace.isPrinted = true
  console.log(`trace ${traceId}\n${treeOf(spans)}\n`)
  if (seen.size < tracesMax) return
  console.log(`${tracesMax} traces were printed: start this program again`)
  process.exit()
}

function byTrace(spans: readonly SpanAtSink[]): Map<string, SpanAtSink[]> {
  const traces = new Map<string, SpanAtSink[]>()
  for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span])
  return traces
}
