/**
 * Dependencies that most deployments never load. Each costs start-up time and memory, so it is imported where it is asked for and nowhere else.
 */
export async function loadTracingSdk() {
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  return { NodeTracerProvider, BatchSpanProcessor, OTLPTraceExporter, resourceFromAttributes }
}
